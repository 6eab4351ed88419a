import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** @import { Block, Finding } from './blocks.mjs' */

/**
 * The JavaScript and TypeScript of a document: its programs import something, its fragments nothing.
 * @param {string} file
 * @param {string} text
 * @returns {{ programs: Block[], fragments: Block[] }}
 */
export function codeOf(file, text) {
  const blocks = [...text.matchAll(/^```(?:js|ts|javascript|typescript)\n(.*?)^```/gms)].map(
    ({ index, 1: code = '' }) => ({
      file,
      line: text.slice(0, index).split('\n').length + 1,
      code,
    }),
  );
  const isProgram = (/** @type {Block} */ { code }) => /^import /m.test(code);
  return { programs: blocks.filter(isProgram), fragments: blocks.filter((block) => !isProgram(block)) };
}

/**
 * Compiles the programs of documents as TypeScript, each as a file of its own: with what `tsc --strict` says of a reader's
 * copy.
 *
 * @param {string} tsconfig where `paths` says what the packages' names are
 * @param {string[]} documents
 * @returns {{ count: number, findings: Finding[] }}
 */
export function checkDocuments(tsconfig, documents) {
  const { config } = /** @type {{ config: { compilerOptions: { paths: Record<string, string[]> } } }} */ (
    ts.readConfigFile(tsconfig, (path) => readFileSync(path, 'utf8'))
  );
  /** @type {ts.CompilerOptions} */
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    types: ['node'],
    paths: Object.fromEntries(
      Object.entries(config.compilerOptions.paths).map(([name, places]) => [
        name,
        places.map((place) => join(dirname(tsconfig), place)),
      ]),
    ),
  };
  const blocks = documents.flatMap((file) => codeOf(file, readFileSync(file, 'utf8')).programs);
  const files = new Map(blocks.map((block, i) => [join(dirname(block.file), `document-${i}.mts`), block]));
  const host = ts.createCompilerHost(options, true);
  const program = ts.createProgram([...files.keys()], options, {
    ...host,
    fileExists: (name) => files.has(name) || host.fileExists(name),
    readFile: (name) => files.get(name)?.code ?? host.readFile(name),
    getSourceFile: (name, version, ...rest) => {
      const block = files.get(name);
      return block === undefined
        ? host.getSourceFile(name, version, ...rest)
        : ts.createSourceFile(name, block.code, version, true);
    },
  });
  /** @type {Finding[]} */
  const findings = [];
  for (const { file, start = 0, messageText } of diagnosticsOf(program, (file) => files.has(file.fileName))) {
    const block = file && files.get(file.fileName);
    const message = ts.flattenDiagnosticMessageText(messageText, ' ');
    if (file === undefined) findings.push({ file: tsconfig, line: 1, message });
    // The sources themselves are checked elsewhere, by their own settings.
    else if (block) {
      const line = block.line + file.getLineAndCharacterOfPosition(start).line;
      findings.push({ file: block.file, line, message });
    }
  }
  return { count: files.size, findings };
}

/**
 * What the compiler says of some files of a program. The others are checked elsewhere, and only their types are needed.
 * @param {ts.Program} program
 * @param {(file: ts.SourceFile) => boolean} isChecked
 * @returns {ts.Diagnostic[]}
 */
export function diagnosticsOf(program, isChecked) {
  const own = program
    .getSourceFiles()
    .filter(isChecked)
    .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]);
  return [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(), ...own];
}
