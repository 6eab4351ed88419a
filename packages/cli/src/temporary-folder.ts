import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Failure, fileReason } from '@verbs/lib/failure';

/** Makes a folder whose name begins so. Its path is absolute, whatever TMPDIR is: programs may change their folder. */
export function temporaryFolder(prefix: string): string {
  const parent = resolve(tmpdir());
  try {
    return mkdtempSync(join(parent, prefix));
  } catch (error) {
    throw new Failure(`cannot make a temporary folder in ${parent}: ${fileReason(error)}`, {
      hint: 'set TMPDIR to a folder that you may write to',
      cause: error,
    });
  }
}
