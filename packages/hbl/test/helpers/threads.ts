import { readdirSync, readFileSync } from 'node:fs';

const FAULTS = { SIGILL: 4, SIGTRAP: 5, SIGBUS: 7, SIGFPE: 8, SIGSEGV: 11, SIGSYS: 31 };

/** The fault signals that the process's threads of that name block, for each thread. */
export function blockedFaults(name: string): string[][] {
  const blocked: string[][] = [];
  for (const thread of readdirSync('/proc/self/task')) {
    const status = readFileSync(`/proc/self/task/${thread}/status`, 'utf8');
    if (!status.startsWith(`Name:\t${name}\n`)) continue;
    const mask = BigInt(`0x${/^SigBlk:\s*(\w+)$/m.exec(status)?.[1] ?? ''}`);
    blocked.push(
      Object.entries(FAULTS).flatMap(([signal, n]) => (((mask >> BigInt(n - 1)) & 1n) === 1n ? [signal] : [])),
    );
  }
  return blocked;
}
