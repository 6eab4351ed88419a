// What this process has open, as the system counts it: the library has no count of its own.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import process from 'node:process';

function add(counts, kind) {
  counts[kind] = (counts[kind] ?? 0) + 1;
}

/** What the open devices know of processes: theirs as long as they are open, whoever connected by them. */
const OF_DEVICES = /pidfd/;

/** Descriptors by what they are of, mappings of memory files, and the files of services. */
export function openCounts() {
  const counts = {};
  for (const fd of readdirSync('/proc/self/fd')) {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      if (!OF_DEVICES.test(target)) add(counts, `descriptors of ${target.replace(/\d+/g, 'N')}`);
    } catch {
      // That of the list itself.
    }
  }
  for (const line of readFileSync('/proc/self/maps', 'utf8').split('\n')) {
    if (line.includes('/memfd:'))
      add(counts, `mappings of ${line.slice(line.indexOf('/memfd:')).replace(/\d+/g, 'N')}`);
  }
  for (const file of readdirSync(process.env['XDG_RUNTIME_DIR'], { recursive: true })) {
    if (file.includes('hostile ')) add(counts, 'files of services');
  }
  return counts;
}
