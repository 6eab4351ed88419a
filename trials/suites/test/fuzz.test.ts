import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { regressionsOf, seedArchiveOf, targetNames } from '../src/fuzz/build.mjs';
import { replay, table } from '../src/fuzz/coverage.mjs';
import { goalOf, nearest } from '../src/fuzz/goals.mjs';
import { packSeeds, seedNames } from '../src/fuzz/refresh.mjs';
import { runTarget } from '../src/fuzz/run-target.mjs';

function fuzz(...args: string[]) {
  return spawnSync(process.execPath, [join(import.meta.dirname, '../fuzz.mjs'), ...args], { encoding: 'utf8' });
}

describe('npm run trial fuzz', () => {
  it.each([
    [['--target', 'nobody'], /--target nobody: there is no such target; there are .*, nic/],
    [['--minutes', 'ten'], /--minutes ten/],
    [['--jobs', '0.5'], /--jobs 0.5/],
    [['--corpus', 'x'], /--corpus/],
    [['--write'], /--write: only with --coverage/],
    [['--built', '--refresh'], /--built: only to fuzz/],
  ])('refuses %j', (args, message) => {
    const { status, stderr } = fuzz(...args);
    expect(stderr).toMatch(message);
    expect(status).toBe(2);
  });

  it('has an archive of seeds for every target, and the NIC is the last', () => {
    expect(targetNames().at(-1)).toBe('nic');
    for (const name of targetNames()) expect(seedNames(seedArchiveOf(name)).length, name).toBeGreaterThan(0);
  });

  it('has regressions with names, not with hashes', () => {
    const folders = targetNames().map(regressionsOf).filter(existsSync);
    expect(folders.length).toBeGreaterThan(0);
    for (const name of folders.flatMap((folder) => readdirSync(folder))) expect(name).not.toMatch(/^[0-9a-f]{40}$/);
  });
});

describe('the goals', () => {
  it('are those of a parser and of what has a state', () => {
    expect([goalOf('wire'), goalOf('nic')]).toEqual([1e8, 1e7]);
  });

  it('are approached from the nearest one, and one whose rate is unknown is tried first', () => {
    const far = { name: 'far', missing: 1e6, rate: 10 };
    const near = { name: 'near', missing: 1e7, rate: 1e5 };
    expect(nearest([far, near])).toBe('near');
    expect(nearest([far, near, { name: 'unknown', missing: 1e8, rate: 0 }])).toBe('unknown');
    expect(nearest([far, { ...near, missing: 0 }])).toBe('far');
    expect(nearest([{ ...far, missing: -1 }])).toBeUndefined();
  });
});

describe('a run of a target', () => {
  type RunForm = NonNullable<Parameters<typeof runTarget>[2]>;
  const crash = { output: '', reproducer: undefined, command: '' };

  // Each form makes `rate` executions in a second.
  async function run(limit: { seconds: number; executions?: number }, rate: number, crashing?: string) {
    const runs: [string, number, number][] = [];
    const runForm: RunForm = (name, form, { seconds, executions }) => {
      runs.push([form, seconds, executions]);
      const made = Math.min(seconds * rate, executions);
      const fast = form === 'fast' ? made : 0;
      return Promise.resolve({
        ...{ name, executions: made, fast, seconds: made / rate },
        crash: form === crashing ? crash : undefined,
      });
    };
    return { runs, result: await runTarget('wire', limit, runForm) };
  }

  it('has seven eighths of the time without sanitizers, and the rest with them', async () => {
    const { runs, result } = await run({ seconds: 80 }, 10);
    expect(runs).toEqual([
      ['fast', 70, Infinity],
      ['checked', 10, Infinity],
    ]);
    expect(result).toMatchObject({ executions: 800, fast: 700, seconds: 80, crash: undefined });
  });

  it('replays what the fast form discovered with the sanitizers, even where no execution is left', async () => {
    const { runs, result } = await run({ seconds: 80, executions: 300 }, 10);
    expect(runs).toEqual([
      ['fast', 70, 300],
      ['checked', 50, 0],
    ]);
    expect(result).toMatchObject({ executions: 300, fast: 300 });
  });

  it('ends with the crash of either form, and counts what it executed', async () => {
    const first = await run({ seconds: 80 }, 10, 'fast');
    expect(first.runs).toEqual([['fast', 70, Infinity]]);
    expect(first.result).toMatchObject({ executions: 700, fast: 700, crash });
    const second = await run({ seconds: 80 }, 10, 'checked');
    expect(second.result).toMatchObject({ executions: 800, fast: 700, crash });
  });
});

describe('packSeeds', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'verbs-seeds-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('gives the same archive for the same files, whatever their times', () => {
    const archives = ['a.zip', 'b.zip'].map((name, index) => {
      const seeds = join(folder, String(index));
      mkdirSync(seeds);
      for (const seed of index === 0 ? ['x', '-y'] : ['-y', 'x']) writeFileSync(join(seeds, seed), `seed ${seed}`);
      utimesSync(join(seeds, 'x'), index * 1000, index * 1000);
      packSeeds(seeds, join(folder, name));
      return readFileSync(join(folder, name));
    });
    expect(archives[0]).toEqual(archives[1]);
    expect(seedNames(join(folder, 'a.zip')).sort()).toEqual(['-y', 'x']);
  });

  it('refuses to pack nothing', () => {
    mkdirSync(join(folder, 'empty'));
    expect(() => {
      packSeeds(join(folder, 'empty'), join(folder, 'c.zip'));
    }).toThrow(/empty has no seeds/);
  });
});

describe('the coverage table', () => {
  it('has a row for each room that was reached, by the better replay of each file', () => {
    const lines = (covered: number) => ({
      lines: { count: 10, covered },
      branches: { count: 4, covered: covered / 2 },
    });
    const text = table([
      ['packages/soft/native/nic/responder/responder.cc', lines(8)],
      ['packages/soft/native/nic/responder/responder.cc', lines(2)],
      ['packages/soft/native/nic/responder/responses.h', lines(6)],
      ['packages/soft/native/host/devices/registry.cc', lines(0)],
      ['packages/soft/native/fuzz/world.cc', lines(10)],
    ]);
    expect(text.split('\n').slice(2)).toEqual(['| soft nic/responder | 14 of 20 (70 %) | 7 of 8 (87 %) |']);
  });
});

describe('the replay of known inputs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-replay-'));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });
  const run = (script: string) => () => {
    replay('shell', 'sh', ['-c', script], join(folder, 'shell'));
  };

  it('may print a lot', () => {
    expect(run('head -c 2000000 /dev/zero')).not.toThrow();
  });

  it.each([
    ['kill -SEGV $$', 'SIGSEGV'],
    ['exit 7', '7'],
  ])('tells the input that ended it by "%s"', (end, told) => {
    expect(run(`echo first; echo second; ${end}`)).toThrow(
      `fuzz_shell ended with ${told} on second: npm run trial fuzz -- --target shell`,
    );
  });
});
