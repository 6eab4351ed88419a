import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../setup/src/paths.mjs';

/**
 * A document of the repository that becomes a page.
 * @typedef {object} Page
 * @property {string} path relative to the root
 * @property {string} theme the heading of the navigation that it stands under
 * @property {string} [title] in the navigation; without it, the document's heading
 * @property {Page[]} children
 */

/** The front page is no page of a theme. */
export const FRONT_PAGE = 'docs/index.md';

/**
 * The pages in the order of the navigation. `pages.json` names them, some with their title, and some with a
 * folder, whose documents stand below the page. A document that nobody names comes last, so that a link to it leads to a page.
 * @returns {Page[]}
 */
export function pages() {
  /** @type {Record<string, (string | Record<string, string>)[]>} */
  const list = JSON.parse(readFileSync(join(root, 'tools/site/pages.json'), 'utf8'));
  /** @type {Page[]} */
  const named = Object.entries(list).flatMap(([theme, entries]) =>
    entries.flatMap((entry) => {
      if (typeof entry === 'string') return [{ path: entry, theme, children: [] }];
      return Object.entries(entry).map(([path, value]) =>
        value.endsWith('/')
          ? { path, theme, children: pagesOf(value, theme) }
          : { path, theme, title: value, children: [] },
      );
    }),
  );
  const known = new Set([
    FRONT_PAGE,
    ...named.flatMap(({ path, children }) => [path, ...children.map((each) => each.path)]),
  ]);
  const rest = documents().filter((path) => !known.has(path));
  return [...named, ...rest.map((path) => ({ path, theme: 'Project', children: [] }))];
}

/** The documents that always have a page. */
function documents() {
  const guides = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  return [...guides.sort().map((name) => `docs/${name}`), ...readmes('trials/')];
}

/**
 * The documents in a folder that have a number, as decisions have, and what is in the folders within it.
 * @param {string} folder with a slash at its end
 * @param {string} theme
 */
function pagesOf(folder, theme) {
  const numbered = readdirSync(join(root, folder))
    .filter((name) => /^\d+-.*\.md$/.test(name))
    .sort();
  return [...numbered.map((name) => folder + name), ...readmes(folder)].map((path) => ({ path, theme, children: [] }));
}

/** @param {string} folder with a slash at its end */
function readmes(folder) {
  return readdirSync(join(root, folder))
    .sort()
    .map((name) => `${folder}${name}/README.md`)
    .filter((path) => existsSync(join(root, path)));
}
