import { createInterface } from 'node:readline';
import { Failure } from '@verbs/lib/failure';

/**
 * The lines of standard input, until its end or until the signal is aborted. One that is too long for a message goes to
 * `refuse`: without an exception of that the next one follows.
 */
export async function* inputLines(
  signal: AbortSignal,
  maxBytes: number,
  refuse: (failure: Failure) => void,
): AsyncGenerator<Buffer> {
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity, terminal: false, signal });
  try {
    let number = 0;
    for await (const line of lines) {
      number += 1;
      const bytes = Buffer.from(line);
      if (bytes.length <= maxBytes) {
        yield bytes;
        continue;
      }
      refuse(
        new Failure(`line ${number} has ${bytes.length} bytes; a message has ${maxBytes} at most`, {
          hint: 'send it as a file: verbs comm connect NAME --file FILE',
        }),
      );
    }
  } finally {
    lines.close();
    // An input that is still open would keep the process.
    process.stdin.destroy();
  }
}
