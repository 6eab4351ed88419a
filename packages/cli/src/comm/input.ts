import { createInterface } from 'node:readline';
import { Failure } from '@verbs/lib/failure';

/** The lines of standard input, until its end or until the signal is aborted. */
export async function* inputLines(signal: AbortSignal, maxBytes: number): AsyncGenerator<Buffer> {
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity, terminal: false, signal });
  try {
    let number = 0;
    for await (const line of lines) {
      number += 1;
      const bytes = Buffer.from(line);
      if (bytes.length > maxBytes) {
        throw new Failure(`line ${number} has ${bytes.length} bytes; a message has ${maxBytes} at most`, {
          hint: 'send it as a file: verbs comm connect NAME --file FILE',
        });
      }
      yield bytes;
    }
  } finally {
    lines.close();
    // An input that is still open would keep the process.
    process.stdin.destroy();
  }
}
