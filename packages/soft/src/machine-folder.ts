import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

// The folder's name tells whose it is, from the moment that it is there: the place where process IDs mean the same, the
// process, and when that began.
const NAME = /^verbs-machine-([0-9a-f]{12})-(\d+)-(\d+)-\w{6}$/;

/**
 * Where the folder of a machine may be, in this order: shared memory, if there is no room for temporary files. TMPDIR may be
 * relative, and the programs may change their folder.
 */
const places = () => [resolve(tmpdir()), '/tmp', '/dev/shm'].filter((path, index, all) => all.indexOf(path) === index);

/**
 * Makes the temporary folder of a machine.
 *
 * @throws Error with `code` if there is no place for it
 */
export function makeMachineFolder(): string {
  const owner = [place() ?? '0'.repeat(12), process.pid, startOf(process.pid) ?? 0].join('-');
  const reasons: string[] = [];
  for (const path of places()) {
    // The loader splits the lists of its variables there.
    if (/[\s:;]/.test(path)) {
      reasons.push(`${JSON.stringify(path)} has a blank, a colon or a semicolon, at which the loader splits paths`);
      continue;
    }
    try {
      return mkdtempSync(join(path, `verbs-machine-${owner}-`));
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  const text = `no folder for the files of a machine: ${reasons.join('; ')}`;
  throw Object.assign(new Error(text), { code: 'ENOTDIR' });
}

/**
 * Removes the folders of machines whose process has ended without doing so, unless a program still uses them. Others may
 * remove them at the same time, and what cannot be removed stays.
 */
export function removeLeftovers(): void {
  const here = place();
  if (here === undefined) return;
  const left = places().flatMap((path) => {
    const names = entries(path).filter((name) => {
      const [, where, pid, start] = NAME.exec(name) ?? [];
      return where === here && startOf(Number(pid)) !== Number(start);
    });
    return names.map((name) => join(path, name));
  });
  if (left.length === 0) return;
  const environments = allEnvironments();
  for (const folder of left) {
    if (!isOwn(folder) || environments.some((environment) => environment.includes(folder))) continue;
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Of another user.
    }
  }
}

/** Root could remove what others have called so, by links that change under it. */
function isOwn(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false })?.uid === process.geteuid?.();
}

/** A word for this run of the kernel and this namespace of process IDs: TMPDIR may be shared with others. */
function place(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    return createHash('sha256').update(boot).update(readlinkSync('/proc/self/ns/pid')).digest('hex').slice(0, 12);
  } catch {
    return undefined;
  }
}

/** When a process began, in ticks of the kernel; undefined if there is none. */
function startOf(pid: number): number | undefined {
  const stat = readOf(pid, 'stat');
  // Behind the command's name, which may hold anything: state ppid pgrp … starttime, the 22nd field of all.
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return start === undefined ? undefined : Number(start);
}

/** The environments of the processes that this user may look at. */
function allEnvironments(): string[] {
  return entries('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readOf(Number(pid), 'environ'));
}

function readOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
