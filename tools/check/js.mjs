// `npm run lint js`: what the compiler says of all TypeScript and JavaScript, and ESLint on what the compiler found out: it takes half
// of the time of the two apart. With --types only the compiler.
import { ESLint } from 'eslint';
import process from 'node:process';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../setup/src/paths.mjs';
import { runProgram } from '../setup/src/program.mjs';

const projects = ['tsconfig.json', 'packages/cli/browser/tsconfig.json'];

/** @type {ts.FormatDiagnosticsHost} */
const host = { getCurrentDirectory: () => root, getCanonicalFileName: (name) => name, getNewLine: () => '\n' };

/** @param {string} project */
function programOf(project) {
  const parsed = ts.getParsedCommandLineOfConfigFile(join(root, project), undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
      throw new Error(ts.formatDiagnostic(diagnostic, host));
    },
  });
  if (parsed === undefined) throw new Error(`${project} is missing`);
  const { fileNames, options, errors } = parsed;
  return ts.createProgram({ rootNames: fileNames, options, configFileParsingDiagnostics: errors });
}

/** @param {ts.Program[]} programs */
async function lint(programs) {
  const eslint = new ESLint({ cwd: root, baseConfig: { languageOptions: { parserOptions: { programs } } } });
  const results = await eslint.lintFiles(['.']);
  const text = await (await eslint.loadFormatter('stylish')).format(results);
  if (text !== '') console.log(text);
  return results.some(({ errorCount, warningCount }) => errorCount + warningCount > 0);
}

await runProgram('js', async () => {
  const programs = projects.map(programOf);
  const diagnostics = programs.flatMap((program) => ts.getPreEmitDiagnostics(program));
  if (diagnostics.length > 0) console.log(ts.formatDiagnosticsWithColorAndContext(diagnostics, host));
  const linted = !process.argv.includes('--types') && (await lint(programs));
  return diagnostics.length > 0 || linted ? 1 : 0;
});
