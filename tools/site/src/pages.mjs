import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../setup/src/paths.mjs';

/**
 * A document of the repository that becomes a page.
 * @typedef {object} Page
 * @property {string} path relative to the root
 * @property {string} theme the heading of the navigation that it stands under
 * @property {Page[]} children
 */

/**
 * The pages in the order of the navigation. A name that ends with a slash stands for the documents in that folder which
 * have a number, as decisions have.
 * @returns {Page[]}
 */
export function pages() {
  /** @type {Record<string, (string | Record<string, string>)[]>} */
  const list = JSON.parse(readFileSync(join(root, 'tools/site/pages.json'), 'utf8'));
  return Object.entries(list).flatMap(([theme, entries]) =>
    entries.flatMap((entry) => {
      if (typeof entry === 'string') return [{ path: entry, theme, children: [] }];
      return Object.entries(entry).map(([path, folder]) => ({ path, theme, children: numbered(folder, theme) }));
    }),
  );
}

/**
 * @param {string} folder
 * @param {string} theme
 */
function numbered(folder, theme) {
  return readdirSync(join(root, folder))
    .filter((name) => /^\d+-.*\.md$/.test(name))
    .sort()
    .map((name) => ({ path: folder + name, theme, children: [] }));
}
