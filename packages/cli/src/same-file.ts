import { statSync } from 'node:fs';
import { Failure } from '@verbs/lib/failure';

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
