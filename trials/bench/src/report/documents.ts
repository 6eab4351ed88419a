import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ComparisonResult } from '../run/rounds.js';
import { type Circumstances, circumstances, figure } from './format.js';
import { verdict } from './text.js';

// The figures in the project's documents are those of one run: `--write` puts them there.

const END = '<!-- to here -->';

/** The rows under a head, with columns as wide as their cells, as Prettier formats them. */
function table(rows: readonly string[][]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.slice(1).map(line)].join('\n');
}

/** The targets, and what was measured. */
export function targetsOf(about: Circumstances, results: readonly ComparisonResult[]): string {
  const rows = results.flatMap(({ targets, better }) =>
    targets.map((target) => [target.title, ...verdict(target, better)]),
  );
  return `${circumstances(about)}\n\n${table([['figure', 'measured', 'target', ''], ...rows])}`;
}

/** What a message costs in C and at the speeds of @verbs/core, within one process. */
export function speedsOf(results: readonly ComparisonResult[]): string {
  const of = (begin: string) => {
    const found = results.find(({ name }) => name.startsWith(begin) && name.endsWith('at the speeds of @verbs/core'));
    if (!found) throw new Error(`--write needs the comparison "${begin}…", which was not measured`);
    return found.contenders;
  };
  const streams = of('stream of RDMA WRITEs of 64 bytes');
  const rows = of('round trip of 64 bytes').map(({ name, median }) => {
    const stream = streams.find((contender) => contender.name === name)?.median ?? NaN;
    return [name, `${figure(median)} us`, `${figure(stream / 1e6)} million/s`];
  });
  return table([['way', 'round trip', 'stream of RDMA WRITEs'], ...rows]);
}

/** @throws Error if the document has no place for it */
export function replaceBetween(document: string, begin: string, text: string): string {
  const from = document.indexOf(begin);
  const to = document.indexOf(END, from);
  if (from < 0 || to < 0) throw new Error(`there is no ${begin} … ${END}`);
  return `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`;
}

/** @param root of the checkout */
export function writeDocuments(root: string, about: Circumstances, results: readonly ComparisonResult[]): void {
  const write = (file: string, what: string, text: string) => {
    const path = join(root, file);
    writeFileSync(
      path,
      replaceBetween(readFileSync(path, 'utf8'), `<!-- the benchmark writes ${what} from here -->`, text),
    );
  };
  write('docs/performance.md', 'the targets', targetsOf(about, results));
  write('packages/core/README.md', 'the speeds', speedsOf(results));
}
