// The table of tested versions: for the terminal, and in docs/versions.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../setup/src/paths.mjs';

/**
 * @typedef {object} Row
 * @property {string} title of the release
 * @property {string} check
 * @property {string} text
 * @property {string[]} failures
 * @property {Record<string, string>} versions
 */

const document = join(root, 'docs/versions.md');
const begin = '<!-- the matrix writes from here -->';
const end = '<!-- to here -->';

/** @param {Row[]} rows */
export function tableOf(rows) {
  const lines = rows.map(({ title, check, text, failures }) =>
    [title, check, failures.length === 0 ? text : `${text}; ${failures.length} FAILED`]
      .map((cell) => `| ${cell} `)
      .join(''),
  );
  return ['| release | check | result ', '| --- | --- | --- ', ...lines].map((line) => `${line}|`).join('\n');
}

/** @param {Row[]} rows */
function versionTable(rows) {
  const releases = [...new Map(rows.map((row) => [row.title, row.versions]))];
  const names = Object.keys(releases[0]?.[1] ?? {});
  const lines = releases.map(([title, versions]) => [title, ...names.map((name) => versions[name] ?? '')]);
  return [['release', ...names], ['release', ...names].map(() => '---'), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** @param {Row[]} rows */
export function writeTable(rows) {
  const text = readFileSync(document, 'utf8');
  const before = text.slice(0, text.indexOf(begin) + begin.length);
  const after = text.slice(text.indexOf(end));
  writeFileSync(document, `${before}\n\n${versionTable(rows)}\n\n${tableOf(rows)}\n\n${after}`);
}
