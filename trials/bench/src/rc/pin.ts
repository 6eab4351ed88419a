import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The processors that this process may use. */
export function allowedProcessors(): number[] {
  const [, list = ''] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/**
 * Keeps this process on the `nth` of its processors, as native/peer.c does: two that spin must not share one. Where there
 * is only one, or no taskset (of util-linux), it stays as it is.
 */
export function pin(nth: number): void {
  const processors = allowedProcessors();
  const mine = processors[nth];
  if (processors.length < 2 || mine === undefined) return;
  spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', String(mine), String(process.pid)], { stdio: 'ignore' });
}
