import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Failure, fileReason } from '@verbs/lib/failure';

/** Where a capture goes to. */
export interface Target {
  path: string;
  /** It is a file, or will be one: else a pipe or a device. */
  isFile: boolean;
  /** The permissions of a file that is there. */
  mode?: number;
}

/** The target of that name. One that cannot be written is reported before there is something to write. */
export function targetOf(name: string): Target {
  try {
    return targetAt(resolve(name));
  } catch (error) {
    throw new Failure(`cannot write the capture ${name}: ${fileReason(error)}`, {
      hint: 'name another file',
      cause: error,
    });
  }
}

function targetAt(path: string): Target {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return newFile(path);
  if (stats.isDirectory()) throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
  // Not opened yet: for the reader of a pipe, closing it again would be the end of the capture.
  if (stats.isFIFO()) accessSync(path, constants.W_OK);
  else closeSync(openSync(path, 'r+'));
  return stats.isFile()
    ? { path: realpathSync(path), isFile: true, mode: stats.mode & 0o777 }
    : { path, isFile: false };
}

/** A link stays, also one that leads to no file yet. */
function newFile(path: string): Target {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return { path, isFile: true };
  return targetAt(resolve(realpathSync(dirname(path)), readlinkSync(path)));
}

/** A new hidden folder beside a file, for what is put in its place as a whole. */
export function folderBeside({ path }: Target): string {
  try {
    return mkdtempSync(join(dirname(path), '.verbs-capture-parts-'));
  } catch (error) {
    throw new Failure(`cannot write the capture ${path}: ${fileReason(error)}`, {
      hint: 'name a file in a directory that exists and that you may write to',
      cause: error,
    });
  }
}

/** Puts a file of such a folder in the place of the target. */
export function putInPlace(file: string, { path, mode }: Target): void {
  if (mode !== undefined) chmodSync(file, mode);
  renameSync(file, path);
}
