import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** One JSON document and nothing else. u64 values, which are bigints, become decimal strings. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? item.toString() : item), 2));
}

/** A result, on standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Progress or a diagnosis, on standard error. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Colour for people: only on a terminal, and never against NO_COLOR. */
export function paint(stream: NodeJS.WriteStream, style: Style, text: string): string {
  return wantsColour(stream) ? styleText(style, text) : text;
}

function wantsColour(stream: NodeJS.WriteStream): boolean {
  if (process.env['NO_COLOR']) return false;
  const forced = process.env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0';
  return stream.isTTY;
}

/**
 * A reader that goes away (`verbs devices | head -1`) is no failure: the rest of the output is dropped. Other write
 * errors, a full disk behind a redirection for one, are.
 */
export function tolerateClosedPipes(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0);
    process.stderr.write(`verbs: cannot write to standard output: ${error.message}\n`);
    process.exit(1);
  });
  process.stderr.on('error', () => {
    // No one is left to read an error.
  });
}
