import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Failure, fileReason } from '@verbs/lib/failure';

/** Opening the output would empty the input. */
export function refuseSame(input: string, output: string): void {
  const [from, to] = [input, output].map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }));
  if (from?.isFile() && from.dev === to?.dev && from.ino === to.ino) {
    throw new Failure(`${input} and ${output} are the same file`, {
      hint: 'name another file for the output',
      exitCode: 2,
    });
  }
}

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
