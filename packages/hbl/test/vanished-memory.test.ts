// Faults in C and in Node.js programs: memory that vanished, crash reporters of the program, WebAssembly's traps.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dropInDirectory } from '@verbs/soft';
import { afterAll, describe, expect, it } from 'vitest';
import { createUsrFifo, softModel } from '../src/index.js';
import { ready } from './helpers/devices.js';
import { blockedFaults } from './helpers/threads.js';

const directory = dropInDirectory([softModel]);
afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** What native/test/programs/vanished_memory.c does with the letters, as "status or signal: output". */
function run(letters: string): string {
  const program = fileURLToPath(new URL('../build/bin/vanished_memory', import.meta.url));
  const env = { ...process.env, LD_LIBRARY_PATH: directory, VERBS_SOFT: 'hbl_0,kind=hbl' };
  const done = spawnSync(program, [letters], { env, encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' });
  return `${done.signal ?? done.status}: ${done.stdout.trim()}`;
}

describe.runIf(process.arch === 'x64')('a C program', () => {
  it.each(['rfv', 'frv', 'rfb', 'frb', 'rfrvrbrvrb', `f${'rvrb'.repeat(50)}`])(
    'loses memory under its regions, however often and in whatever order it made them and its FIFO: %s',
    (letters) => {
      expect(run(letters)).toBe('0: done');
    },
  );

  it.each(['rfx', 'frx', 'rfrx', 'frvrfrbx'])('has a fault of its own, which ends it: %s', (letters) => {
    expect(run(letters)).toBe('SIGSEGV: ');
  });

  it.each(['crfrvx', 'rcfrvx', 'rfcrvx', 'rfrvcx', 'rfrcrvrbx'])(
    'has a crash reporter that chains, which is called once before the program ends: %s',
    (letters) => {
      expect(run(letters)).toBe('SIGSEGV: 1');
    },
  );

  it.each(['nrfrvx', 'rnfrvx', 'rfnrvx', 'rfrvnx', 'rfrbnrbx'])(
    'has a crash reporter that does not chain, which is called for its own fault only: %s',
    (letters) => {
      expect(run(letters)).toBe('7: 1');
    },
  );
});

describe('a Node.js program', () => {
  it('has WebAssembly traps, regions and a FIFO', () => {
    const program = fileURLToPath(new URL('./programs/wasm-traps.mjs', import.meta.url));
    // Node.js 20 cannot give away the memory of a region, and Node.js 24 does not.
    const vanished = process.versions.node.startsWith('22.') ? 3 : 0;
    const done = spawnSync(process.execPath, [program], { encoding: 'utf8', timeout: 60_000 });
    expect({ status: done.status, signal: done.signal, stdout: done.stdout, stderr: done.stderr }).toEqual({
      status: 0,
      signal: null,
      stdout: `traps: 400, errors: ${vanished} of ${vanished}\n`,
      stderr: '',
    });
  });
});

it('no thread of the NIC or of the model blocks the signals of faults', async () => {
  const ctx = ready();
  createUsrFifo(ctx, { portNum: 1 });
  for (const name of ['verbs-hbl', 'verbs-soft']) {
    // A thread that has just been created blocks all of them until it has run.
    await expect.poll(() => blockedFaults(name), { timeout: 30_000 }).toEqual([[]]);
  }
});
