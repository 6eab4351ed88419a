import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { root } from '../../../../tools/setup/src/paths.mjs';

/** Sources of TypeScript that a test of @verbs/core loads. */
const folders = ['packages/core/src', 'packages/core/test', 'packages/native-files/src'];

/**
 * Compiles the sources and tests of @verbs/core, file by file, into a new folder, where each has its path and `.mjs` behind it.
 * @returns {string} the folder, for the caller to remove
 */
export function compileCore() {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-core-'));
  for (const part of folders) {
    for (const name of readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue;
      const { outputText } = ts.transpileModule(readFileSync(join(root, part, name), 'utf8'), {
        compilerOptions: {
          target: ts.ScriptTarget.ES2022,
          module: ts.ModuleKind.ESNext,
          verbatimModuleSyntax: true,
        },
      });
      const path = join(folder, part, `${name}.mjs`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, outputText);
    }
  }
  return folder;
}
