// The table of tested versions: for the terminal, and in docs/versions.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../tools/setup/src/paths.mjs';
import { releases } from './releases.mjs';

/** @import { SkipCount } from './skips.mjs' */

/**
 * @typedef {object} Row
 * @property {string} title of the release
 * @property {string} check
 * @property {string} text
 * @property {string[]} failures
 * @property {Record<string, string>} versions
 * @property {SkipCount[]} [skips]
 */

const document = join(root, 'docs/versions.md');
const begin = '<!-- the matrix writes from here -->';
const end = '<!-- to here -->';

const titles = releases.map(({ title }) => title);

/** @param {Row} row */
function resultOf({ text, failures }) {
  return failures.length === 0 ? text : `${text}; ${failures.length} FAILED`;
}

/** @param {Row[]} rows */
export function tableOf(rows) {
  const lines = rows.map((row) => [row.title, row.check, resultOf(row)].map((cell) => `| ${cell} `).join(''));
  return ['| release | check | result ', '| --- | --- | --- ', ...lines].map((line) => `${line}|`).join('\n');
}

/**
 * The cells of the rows of a table of the document, without its head.
 * @param {string} text
 * @param {string} head its second cell
 */
function cellsOf(text, head) {
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  const cells = rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const begins = cells.findIndex(([, second]) => second === head);
  if (begins < 0) return [];
  const after = cells.slice(begins + 2);
  const ends = after.findIndex(([first]) => first === 'release');
  return ends < 0 ? after : after.slice(0, ends);
}

/** @param {string[][]} rows */
function textOf(rows) {
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/**
 * The rows of what was checked now; the others stay.
 * @param {Row[]} rows
 */
export function writeTable(rows) {
  const text = readFileSync(document, 'utf8');
  const before = text.slice(0, text.indexOf(begin) + begin.length);
  const after = text.slice(text.indexOf(end));
  const old = text.slice(before.length, text.length - after.length);
  const names = Object.keys(rows[0]?.versions ?? {});
  const versions = new Map(cellsOf(old, names[0] ?? '').map((cells) => [cells[0] ?? '', cells]));
  const results = new Map(cellsOf(old, 'check').map((cells) => [`${cells[0]} ${cells[1]}`, cells]));
  for (const row of rows) {
    versions.set(row.title, [row.title, ...names.map((name) => row.versions[name] ?? '')]);
    results.set(`${row.title} ${row.check}`, [row.title, row.check, resultOf(row)]);
  }
  const measured = rows.filter((row) => row.skips !== undefined);
  const skips = [
    ...cellsOf(old, 'device').filter(([title]) => !measured.some((row) => row.title === title)),
    ...measured.flatMap(({ title, skips: all = [] }) =>
      all.map(({ device, count, whose, why }) => [title, device, String(count), whose, why]),
    ),
  ].sort(([a = ''], [b = '']) => titles.indexOf(a) - titles.indexOf(b));
  const order = ['load', 'pyverbs', 'programs', 'uverbs', 'checkout', 'tests'];
  const sorted = [...results.values()].sort(
    ([a = '', b = ''], [c = '', d = '']) =>
      titles.indexOf(a) - titles.indexOf(c) || order.indexOf(b) - order.indexOf(d),
  );
  const rule = (/** @type {string[]} */ head) => head.map(() => '---');
  const [first, second, third] = [
    ['release', ...names],
    ['release', 'check', 'result'],
    ['release', 'device', 'skipped', 'whose', 'why'],
  ];
  const tables = [
    [first, rule(first), ...[...versions.values()].sort(([a = ''], [b = '']) => titles.indexOf(a) - titles.indexOf(b))],
    [second, rule(second), ...sorted],
    [third, rule(third), ...skips],
  ];
  writeFileSync(document, `${before}\n\n${tables.map(textOf).join('\n\n')}\n\n${after}`);
}
