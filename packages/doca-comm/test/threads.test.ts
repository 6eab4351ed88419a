// The threads of the library, as the kernel sees them.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serve } from './helpers/devices.js';

// SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS
const FAULTS = [4, 5, 7, 8, 11, 31].reduce((mask, signal) => mask | (1n << BigInt(signal - 1)), 0n);

/** The fault signals that each thread of that name blocks, as a mask. */
function blockedFaults(name: string): bigint[] {
  const statuses = readdirSync('/proc/self/task').map((thread) =>
    readFileSync(`/proc/self/task/${thread}/status`, 'utf8'),
  );
  return statuses
    .filter((status) => status.startsWith(`Name:\t${name}\n`))
    .map((status) => BigInt(`0x${/^SigBlk:\s*(\w+)$/m.exec(status)?.[1] ?? ''}`) & FAULTS);
}

// A fault whose signal is blocked ends the process: memory that was unmapped under a region would.
test('no thread of an open device blocks the signals of faults', async () => {
  serve('threads');
  // A thread that has just been created blocks all of them until it has run.
  for (const name of ['verbs-doca', 'verbs-soft']) {
    await expect.poll(() => new Set(blockedFaults(name)), { timeout: 30_000 }).toEqual(new Set([0n]));
  }
});
