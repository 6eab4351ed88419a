// Bad arguments and calls in a wrong state, on our library: the answers are those of the kernel's. See refusals/kernel.txt.
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { dropInDirectory } from '@verbs/soft';
import { expect, it } from 'vitest';
import { softModel } from '../src/index.js';
import { differences, parse } from './refusals/transcript.js';

/** Cases whose answers differ, and why. */
const reasons: Record<string, string> = {
  'destroy channel: an identifier uses it':
    'the real identifier is lost with the file of its channel, and its destruction fails with EBADF; ours is destroyed',
  'event names':
    'the real library is of release 44, and names no event of later ones; ours is for programs of all releases',
  'create srq: the domain of another context, and twice':
    'the real library takes both, and forgets the first queue, which nobody can destroy then; ours refuses both',
};

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const recording = parse(readFileSync(path('refusals/kernel.txt'), 'utf8'));

/** All cases, on a device with two addresses that stays within each process: the machine's do not matter. */
async function answers(): Promise<string> {
  const directory = dropInDirectory([softModel]);
  try {
    const devices = 'soft0,link=process,addr=10.77.1.1,addr=fd77:1::1';
    const env = { ...process.env, LD_LIBRARY_PATH: directory, VERBS_SOFT: devices };
    const program = path('../build/bin/refusals');
    return (await promisify(execFile)(program, ['10.77.1.1', 'fd77:1::1'], { env, timeout: 500_000 })).stdout;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

it('librdmacm refuses what the real one refuses, by the same errors', { timeout: 600_000 }, async () => {
  expect(differences(recording, parse(await answers()), reasons)).toEqual([]);
});

it('the comparison tells another answer, a crash of ours, a missing line and a reason that no longer applies', () => {
  const real = parse('a\n  f() -> 0\nb\n  g() -> \ncrashes\nc\n  h() -> 0\n  event X, status 0\n');
  const same = parse('a\n  f() -> 0\nb\n  g() -> EINVAL\nc\n  h() -> 0\n  event X, status 0\n');
  expect(differences(real, same, {})).toEqual([]);
  expect(differences(real, same, { a: 'why' })).toHaveLength(1);
  const other = parse('a\n  f() -> EINVAL\nb\n  g() -> \ncrashes\nc\n  h() -> 0\nd\n');
  expect(differences(real, other, {})).toHaveLength(4);
  expect(differences(real, other, { a: 'why', c: 'why' })).toHaveLength(2);
});
