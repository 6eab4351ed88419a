// `npm run api`: writes the public surface of every package to its docs/*.api.md; with --check, fails where it is another
// than the report. One program of the compiler serves all entries: it is most of the time.
import { readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import process from 'node:process';
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { libraryPackages } from '../setup/src/packages.mjs';
import { root } from '../setup/src/paths.mjs';
import { runProgram } from '../setup/src/program.mjs';

/** @import { IConfigFile } from '@microsoft/api-extractor' */

/**
 * @typedef {object} Entry
 * @property {string} directory of the package
 * @property {string} file the declarations
 * @property {string} report the report's name
 * @property {boolean} main whether it is what the package's name imports
 */

/**
 * The entries of a package of which users write code.
 * @param {string} directory
 * @returns {Entry[]}
 */
function entriesOf(directory) {
  /** @type {{ exports?: Record<string, string | { import: { types: string } }> }} */
  const { exports = {} } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  return Object.entries(exports).flatMap(([name, target]) => {
    if (typeof target === 'string') return [];
    const main = name === '.';
    const report = `${basename(directory)}${main ? '' : `-${basename(name)}`}`;
    return [{ directory, file: join(directory, target.import.types), report, main }];
  });
}

/** @param {Entry[]} entries */
const tsconfig = (entries) => ({
  extends: join(root, 'tsconfig.base.json'),
  files: entries.map(({ file }) => file),
});

/**
 * @param {Entry} entry @param {Entry[]} entries
 * @returns {IConfigFile}
 */
function settings({ directory, file, report, main }, entries) {
  return {
    projectFolder: directory,
    mainEntryPointFilePath: file,
    newlineKind: 'lf',
    compiler: { overrideTsconfig: tsconfig(entries) },
    apiReport: {
      enabled: true,
      reportFileName: report,
      reportFolder: join(directory, 'docs'),
      reportTempFolder: join(directory, 'test-results'),
      // What a further entry refers to stands in the report of the main one.
      includeForgottenExports: main,
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: {
      compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      extractorMessageReporting: {
        default: { logLevel: ExtractorLogLevel.None },
        'ae-forgotten-export': { logLevel: ExtractorLogLevel.None, addToApiReportFile: false },
        // The kit hands out native handles, which are internal to programs. The report would name the declaration file of
        // these places, whose name changes with every comment.
        'ae-incompatible-release-tags': { logLevel: ExtractorLogLevel.None, addToApiReportFile: false },
      },
      tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
    },
  };
}

/** @param {boolean} write */
function reportAll(write) {
  const entries = libraryPackages().flatMap(({ folder }) => entriesOf(folder));
  const configs = entries.map((entry) =>
    ExtractorConfig.prepare({
      configObject: settings(entry, entries),
      configObjectFullPath: undefined,
      packageJsonFullPath: join(entry.directory, 'package.json'),
    }),
  );
  const [first, ...others] = configs;
  if (first === undefined) throw new Error('no package has an entry');
  const compilerState = CompilerState.create(first, {
    additionalEntryPoints: others.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath),
  });
  let failures = 0;
  for (const [index, config] of configs.entries()) {
    const { succeeded, apiReportChanged } = Extractor.invoke(config, {
      compilerState,
      localBuild: write,
      messageCallback: (message) => {
        // That it says where it found the compiler, and that it wrote a report, is said below.
        if (message.messageId.startsWith('console-')) message.handled = true;
      },
    });
    if (apiReportChanged) {
      const report = relative(root, join(config.reportFolder, `${entries[index]?.report}.api.md`));
      console.log(write ? `api: ${report} written` : `api: ${report} is not what the package exports: npm run api`);
    }
    if (!succeeded) failures++;
  }
  console.log(`api: ${configs.length} entries, ${failures} errors`);
  return failures === 0 ? 0 : 1;
}

await runProgram('api', () => reportAll(!process.argv.includes('--check')));
