import { dirname } from 'node:path';
import ts from 'typescript';

/** Options that change which files are read and what is reported, not what a file means. */
const ofTheProject = new Set(['configFilePath', 'allowJs', 'checkJs', 'noEmit']);

/**
 * Checks projects as `tsc -p` does, in one process: a file that several of them read, as the declarations of Node and of
 * the packages, is parsed once.
 * @returns {(config: string) => { files: number, errors: string[] }} by the path of a tsconfig.json
 */
export function projectChecker() {
  /** @type {Map<string, ts.SourceFile | undefined>} */
  const parsedFiles = new Map();
  return (config) => {
    const { options, fileNames, errors } = configuration(config);
    const host = ts.createCompilerHost(options, true);
    host.getCurrentDirectory = () => dirname(config);
    const meaning = JSON.stringify(options, (name, /** @type {unknown} */ value) =>
      ofTheProject.has(name) ? undefined : value,
    );
    const parse = host.getSourceFile.bind(host);
    host.getSourceFile = (file, language, onError) => {
      const key = [file, JSON.stringify(language), meaning].join('\n');
      if (!parsedFiles.has(key)) parsedFiles.set(key, parse(file, language, onError));
      return parsedFiles.get(key);
    };
    const program = ts.createProgram({ rootNames: fileNames, options, host });
    const found = [...errors, ...ts.getPreEmitDiagnostics(program)];
    return { files: fileNames.length, errors: found.map((error) => ts.formatDiagnostic(error, host).trimEnd()) };
  };
}

/** @param {string} config */
function configuration(config) {
  /** @type {ts.Diagnostic[]} */
  const unreadable = [];
  const read = ts.getParsedCommandLineOfConfigFile(config, undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (error) => unreadable.push(error),
  });
  return {
    options: read?.options ?? {},
    fileNames: read?.fileNames ?? [],
    errors: [...unreadable, ...(read?.errors ?? [])],
  };
}
