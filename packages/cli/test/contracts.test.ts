import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DOCUMENT = 'docs/contracts.md';

/** The libraries of each heading of the document. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  libibverbs: ['packages/soft/build/lib/dropin/libibverbs.so.1'],
  librdmacm: ['packages/rdmacm/build/lib/dropin/librdmacm.so.1'],
  'libmlx5, libhbl': ['packages/mlx5/build/lib/dropin/libmlx5.so.1', 'packages/hbl/build/lib/dropin/libhbl.so.1'],
  'libdoca_common, libdoca_comm_channel, libdoca_comch, libdoca_argp': [
    'packages/doca-comm/build/lib/dropin/libdoca_common.so.2',
    'packages/doca-comm/build/lib/dropin/libdoca_comm_channel.so.2',
    'packages/doca-comm/build/lib/dropin/libdoca_comch.so.2',
    'packages/doca-comm/build/lib/dropin/libdoca_argp.so.2',
  ],
  'The preload library of `verbs run`': ['packages/soft/build/lib/libverbs-soft-system.so'],
};

const ANSWERS = [/^(yes|no)$/, /^(point|waits|no)$/, /^(works|rejects)$/, /^(yes|no)$/];

interface Row {
  names: string[];
  answers: string[];
}

function tables(): Map<string, Row[]> {
  const found = new Map<string, Row[]>();
  let rows: Row[] = [];
  for (const line of readFileSync(`${ROOT}/${DOCUMENT}`, 'utf8').split('\n')) {
    if (line.startsWith('## ')) found.set(line.slice(3), (rows = []));
    const cells = line.split('|').slice(1, -1);
    const names = [...(cells[0] ?? '').matchAll(/`([^`]+)`/g)].flatMap((match) => match[1] ?? []);
    if (names.length > 0) rows.push({ names, answers: cells.slice(1).map((cell) => cell.trim()) });
  }
  return found;
}

/** The exported functions, without those by which our libraries know each other, and without versions' names. */
function exportedBy(library: string): string[] {
  const text = execFileSync('nm', ['-D', '--defined-only', `${ROOT}/${library}`], { encoding: 'utf8' });
  const names = text.split('\n').flatMap((line) => /^\S+ [TWi] ([^@]+)/.exec(line)?.[1] ?? []);
  return [...new Set(names)].filter((name) => !name.startsWith('verbs_soft_'));
}

describe(DOCUMENT, () => {
  it('has a table for each library', () => {
    expect([...tables().keys()]).toEqual(Object.keys(LIBRARIES));
  });

  it.each(Object.keys(LIBRARIES))('has each function of %s in one row, and no others', (heading) => {
    const rows = tables().get(heading) ?? [];
    const exported = new Set((LIBRARIES[heading] as string[]).flatMap(exportedBy));
    expect(exported.size).toBeGreaterThan(10);
    const literal = rows.flatMap((row) => row.names.filter((name) => !name.includes('*')));
    expect(literal.filter((name) => !exported.has(name))).toEqual([]);
    expect(new Set(literal).size).toBe(literal.length);
    const patterns = rows.flatMap((row) => row.names.filter((name) => name.includes('*')));
    const used = new Set<string>();
    for (const name of exported) {
      if (literal.includes(name)) continue;
      const matching = patterns.filter((pattern) => new RegExp(`^${pattern.replace('*', '.*')}$`).test(name));
      // The longest says the most: ibv_cmd_* is no ibv_*.
      const [longest] = matching.sort((a, b) => b.length - a.length);
      expect(longest, `no row has ${name}`).toBeDefined();
      used.add(longest ?? '');
    }
    expect(patterns.filter((pattern) => !used.has(pattern))).toEqual([]);
  });

  it('answers each question by one of its words', () => {
    for (const rows of tables().values()) {
      for (const { names, answers } of rows) {
        expect(answers, names[0] ?? '').toHaveLength(ANSWERS.length);
        answers.forEach((answer, column) => {
          expect(answer, names[0] ?? '').toMatch(ANSWERS[column] ?? /^$/);
        });
      }
    }
  });
});
