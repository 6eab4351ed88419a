import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders that hold no source of the product. */
const left = new Set([
  'node_modules',
  'build',
  'dist',
  'coverage',
  'test',
  'fuzz',
  'bench',
  'generated',
  'test-results',
]);

/**
 * The source files below a folder: TypeScript, JavaScript, C and C++, without tests and generated files.
 *
 * @param {string} folder
 * @returns {string[]} absolute paths, sorted
 */
export function sourcesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return left.has(entry.name) ? [] : sourcesBelow(path);
      return /\.(ts|mjs|cc|c|h)$/.test(entry.name) && !entry.name.endsWith('.d.ts') ? [path] : [];
    })
    .sort();
}
