import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { examplesOf } from './blocks.mjs';
import { codeOf, diagnosticsOf } from './readme.mjs';

/** @import { Block, Finding } from './blocks.mjs' */

/** Lines in front of an example's code in its virtual file. */
const LINES_BEFORE = 2;

/**
 * Compiles the examples of packages and the fragments of their READMEs, each as the body of a function in a file of its own. Everything that the example's
 * package and @verbs/core export is imported there, and the variables of the scope are declared.
 *
 * @param {string} tsconfig the compiler's settings; its files declare the scope
 * @param {string[]} packages folders
 * @returns {{ count: number, findings: Finding[] }}
 */
export function checkExamples(tsconfig, packages) {
  const { options, fileNames } = settingsOf(tsconfig);
  const host = readsOnce(ts.createCompilerHost(options, true));
  const entries = packages.map((folder) => join(folder, 'src', 'index.ts'));
  const names = exportedNames(ts.createProgram([...fileNames, ...entries], options, host), entries);

  /** @type {Map<string, { block: Block, text: string }>} */
  const files = new Map();
  for (const folder of packages) {
    for (const block of blocksOf(folder)) {
      const text = fileOf(block, (own) => imports(folder, names, own));
      files.set(join(folder, `example-${files.size}.ts`), { block, text });
    }
  }
  const program = ts.createProgram([...fileNames, ...files.keys()], options, withFiles(host, files));
  const isChecked = (/** @type {ts.SourceFile} */ { fileName }) =>
    files.has(fileName) || dirname(fileName) === dirname(tsconfig);
  const findings = diagnosticsOf(program, isChecked).map((diagnostic) => finding(diagnostic, files, dirname(tsconfig)));
  return { count: files.size, findings };
}

/**
 * A host that reads and parses a file for the first program only.
 * @param {ts.CompilerHost} host
 * @returns {ts.CompilerHost}
 */
function readsOnce(host) {
  /** @type {Map<string, ts.SourceFile | undefined>} */
  const known = new Map();
  return {
    ...host,
    getSourceFile: (name, ...rest) => {
      const file = known.get(name) ?? host.getSourceFile(name, ...rest);
      known.set(name, file);
      return file;
    },
  };
}

/** @param {string} tsconfig */
function settingsOf(tsconfig) {
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(tsconfig, (path) => readFileSync(path, 'utf8')).config,
    ts.sys,
    dirname(tsconfig),
  );
  const [error] = errors;
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, '\n'));
  return { options, fileNames };
}

/**
 * The code as a function's body, on the same lines: its imports go in front.
 * @param {Block} block
 * @param {(own: Set<string>) => string} prelude one line, without what the example imports itself
 */
function fileOf({ code }, prelude) {
  /** @type {string[]} */
  const hoisted = [];
  const body = code.replace(/^import .*;$/gm, (line) => {
    hoisted.push(line);
    return '';
  });
  const own = new Set(hoisted.flatMap((line) => line.split(' from ')[0]?.match(/\w+/g) ?? []));
  return `${[prelude(own), ...hoisted].join(' ')}\nexport async function example() {\n${body}\n}\n`;
}

/**
 * The examples in a package's sources, and the fragments in its README, which take the same names for granted.
 * @param {string} folder
 */
function blocksOf(folder) {
  const readme = join(folder, 'README.md');
  const fragments = existsSync(readme) ? codeOf(readme, readFileSync(readme, 'utf8')).fragments : [];
  return [...sourceBlocks(join(folder, 'src')), ...fragments];
}

/** @param {string} source */
function sourceBlocks(source) {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .flatMap((name) => examplesOf(join(source, name), readFileSync(join(source, name), 'utf8')));
}

/**
 * @param {ts.Program} program
 * @param {string[]} entries
 * @returns {Map<string, string[]>} by the entry
 */
function exportedNames(program, entries) {
  const checker = program.getTypeChecker();
  return new Map(
    entries.map((entry) => {
      const file = program.getSourceFile(entry);
      const symbol = file && checker.getSymbolAtLocation(file);
      return [entry, symbol === undefined ? [] : checker.getExportsOfModule(symbol).map(({ name }) => name)];
    }),
  );
}

/**
 * One line that imports what an example of the package may use: its own names before those of @verbs/core.
 * @param {string} folder
 * @param {Map<string, string[]>} names
 * @param {ReadonlySet<string>} without
 */
function imports(folder, names, without) {
  const own = join(folder, 'src', 'index.ts');
  const core = join(dirname(folder), 'core', 'src', 'index.ts');
  const seen = new Set(without);
  return [own, core]
    .map((entry) => {
      const fresh = (names.get(entry) ?? []).filter((name) => !seen.has(name));
      for (const name of fresh) seen.add(name);
      return fresh.length === 0 ? '' : `import { ${fresh.join(', ')} } from './${relative(folder, entry)}';`;
    })
    .join(' ');
}

/**
 * @param {ts.CompilerHost} host
 * @param {Map<string, { text: string }>} files
 * @returns {ts.CompilerHost}
 */
function withFiles(host, files) {
  return {
    ...host,
    fileExists: (name) => files.has(name) || host.fileExists(name),
    readFile: (name) => files.get(name)?.text ?? host.readFile(name),
    getSourceFile: (name, version, ...rest) => {
      const file = files.get(name);
      return file === undefined
        ? host.getSourceFile(name, version, ...rest)
        : ts.createSourceFile(name, file.text, version, true);
    },
  };
}

/**
 * @param {ts.Diagnostic} diagnostic
 * @param {Map<string, { block: Block }>} files
 * @param {string} scope
 * @returns {Finding}
 */
function finding({ file, start = 0, messageText }, files, scope) {
  const message = ts.flattenDiagnosticMessageText(messageText, ' ');
  if (file === undefined) return { file: scope, line: 1, message };
  const line = file.getLineAndCharacterOfPosition(start).line;
  const example = files.get(file.fileName);
  if (example !== undefined)
    return { file: example.block.file, line: example.block.line + line - LINES_BEFORE, message };
  return { file: file.fileName, line: line + 1, message };
}
