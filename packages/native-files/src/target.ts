import { closeSync, openSync, readSync } from 'node:fs';

/** The machine that a native file is for. */
export interface Target {
  /** As `process.platform`. */
  platform: string;
  /** As `process.arch`. */
  arch: string;
  /** The C library; of Linux only. */
  libc?: 'glibc' | 'musl';
}

let running: Target | undefined;

/** The target of the running process. */
export function runningTarget(): Target {
  running ??= detect();
  return running;
}

/** Its name as that of a folder: `linux-x64-glibc`. */
export function targetName({ platform, arch, libc }: Target): string {
  return [platform, arch, ...(libc === undefined ? [] : [libc])].join('-');
}

function detect(): Target {
  const { platform, arch } = process;
  return platform === 'linux' ? { platform, arch, libc: libcOf(process.execPath) } : { platform, arch };
}

/** By the program interpreter, which lies in the first page of an executable: `/lib/ld-musl-x86_64.so.1`. */
function libcOf(executable: string): 'glibc' | 'musl' {
  return firstBytes(executable, 4096)?.includes('/ld-musl-') === true ? 'musl' : 'glibc';
}

/** The first bytes of a file, or undefined if it cannot be read. */
export function firstBytes(path: string, length: number): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
