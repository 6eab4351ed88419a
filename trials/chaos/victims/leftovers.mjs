// What a process holds: descriptors and threads, and objects of the packages.
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { objectCounts } from '@verbs/core';

export function held() {
  /** @type {Record<string, number>} */
  const descriptors = {};
  for (const name of readdirSync('/proc/self/fd')) {
    try {
      const target = readlinkSync(`/proc/self/fd/${name}`).replace(/\[\d+\]$/, '');
      // The directory that is being read, and inodes, which are new each time.
      if (target.startsWith('/proc/')) continue;
      descriptors[target] = (descriptors[target] ?? 0) + 1;
    } catch {
      // Closed meanwhile.
    }
  }
  /** @type {Record<string, number>} */
  const objects = objectCounts();
  return { descriptors, threads: readdirSync('/proc/self/task').length, objects };
}

/**
 * What is there beyond the baseline, after a while that threads may take to end; empty if nothing is. Up to `sockets` more
 * sockets may be there, and `pidfds` more references to processes. `collect` collects the garbage of the process's workers.
 * @param {ReturnType<typeof held>} baseline
 * @param {{ milliseconds: number, sockets?: number, pidfds?: number, collect?: () => Promise<unknown> }} options
 */
export async function leftovers(baseline, { milliseconds, sockets = 0, pidfds = 0, collect }) {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    globalThis.gc?.();
    await collect?.();
    const found = differences(baseline, held(), { 'socket:': sockets, 'anon_inode:[pidfd]': pidfds });
    if (found.length === 0 || performance.now() > deadline) return found;
    await setTimeout(50);
  }
}

/** @param {ReturnType<typeof held>} before @param {ReturnType<typeof held>} now @param {Record<string, number>} allowed */
function differences(before, now, allowed) {
  const found = [];
  for (const [target, count] of Object.entries(now.descriptors)) {
    const more = count - (before.descriptors[target] ?? 0) - (allowed[target] ?? 0);
    if (more > 0) found.push(`${more} descriptor${more > 1 ? 's' : ''} ${target}`);
  }
  if (now.threads > before.threads) found.push(`${now.threads - before.threads} threads`);
  for (const [type, count] of Object.entries(now.objects)) {
    if (count > (before.objects[type] ?? 0)) found.push(`${count} ${type}`);
  }
  return found;
}
