import { readFileSync, type Stats, statSync } from 'node:fs';
import { note } from '../output.js';

/**
 * Tells of a program that uses verbs, on a run of which none has loaded the software NIC: it had the system's library, and
 * would fail, or find no device, without a word about why. Programs that a script starts are not seen.
 */
export function tellOthers(command: readonly string[]): void {
  const program = command.find(usesVerbs);
  if (program === undefined) return;
  note(
    `verbs: ${program} did not ask the software NIC for devices. If it asked for some, it has another libibverbs: by a path ` +
      'of its own (DT_RPATH), by what replaces LD_LIBRARY_PATH or the environment (env -i), or as a set-user-ID or static program',
  );
}

/** Whether a word of the command is a program that names libibverbs or librdmacm. */
function usesVerbs(word: string): boolean {
  const folders = word.includes('/') ? [''] : (process.env['PATH'] ?? '').split(':').map((path) => `${path}/`);
  return folders.some((folder) => {
    try {
      const file = `${folder}${word}`;
      if (!isProgram(statSync(file))) return false;
      const bytes = readFileSync(file);
      return bytes.subarray(0, 4).equals(ELF) && ['libibverbs.so', 'librdmacm.so'].some((name) => bytes.includes(name));
    } catch {
      return false;
    }
  });
}

/** The other words are arguments: a pipe has what its reader waits for, and a device may have no end. */
function isProgram(stats: Stats): boolean {
  return stats.isFile() && (stats.mode & 0o111) !== 0 && stats.size <= MOST_BYTES;
}

/** Of a program that is read. */
const MOST_BYTES = 1 << 28;

const ELF = Buffer.from('\x7fELF');
