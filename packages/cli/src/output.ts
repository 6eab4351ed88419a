import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { inspect, type styleText } from 'node:util';
import { Failure, messageOf } from '@verbs/lib/failure';
import { jsonText, textOf } from '@verbs/lib/text';

// Nothing else of the command writes to the terminal (see eslint.config.js): so no text of a peer, a file or another program
// can drive it.

export type Style = Extract<Parameters<typeof styleText>[0], string>;
export type Painter = (style: Style, text: string) => string;

/** Stands for the beginning of a colour until the text is written. No foreign text has it. */
const COLOUR = `\u0001${randomUUID()}`;

/** Characters that are written at once. */
const PIECE = 1 << 16;

/** One JSON document and nothing else. u64 values, which are bigints, become decimal strings. */
export function printJson(value: unknown): void {
  write(process.stdout, `${jsonOf(value, 2)}\n`);
}

/** The same on one line, of several. */
export function printJsonLine(value: unknown): void {
  write(process.stdout, `${jsonOf(value)}\n`);
}

/** A JSON document as text, on one line without `indent`. */
export function jsonOf(value: unknown, indent?: number): string {
  return jsonText(
    JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? item.toString() : item), indent),
  );
}

/** A result, on standard output. */
export function print(text: string): void {
  write(process.stdout, `${shown(text)}\n`);
}

/**
 * A long result, line by line: no more of it is in memory than the reader is behind. `json` for the lines of a JSON
 * document.
 */
export async function printLines(lines: Iterable<string>, format: 'text' | 'json' = 'text'): Promise<void> {
  const safe = format === 'json' ? jsonText : shown;
  let piece = '';
  for (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < PIECE) continue;
    if (!write(process.stdout, safe(piece))) await once(process.stdout, 'drain');
    piece = '';
  }
  write(process.stdout, safe(piece));
}

/** Progress or a diagnosis, on standard error. */
export function note(text: string): void {
  write(process.stderr, `${shown(text)}\n`);
}

/** Text as it is, without a line's end: for those who lay it out themselves. */
export function printText(stream: NodeJS.WriteStream, text: string): void {
  write(stream, shown(text));
}

/** The alternate screen, as editors use it: what was on the terminal comes back. */
export const screen = {
  enter(): void {
    write(process.stdout, '\x1b[?1049h\x1b[?25l');
  },
  /** Draws from the top. */
  draw(lines: readonly string[]): void {
    write(process.stdout, `\x1b[H${lines.map((line) => `${shown(line)}\x1b[K\n`).join('')}\x1b[J`);
  },
  leave(): void {
    write(process.stdout, '\x1b[?25h\x1b[?1049l');
  },
};

/** A line on standard error that is written anew each time; only for a terminal. Without a text it goes. */
export function rewriteLine(text?: string): void {
  write(process.stderr, text === undefined ? '\r\x1b[K' : `\r${shown(text)}`);
}

/** Colour for people: only on a terminal, and never against NO_COLOR. */
export function paint(stream: NodeJS.WriteStream, style: Style, text: string): string {
  return painter(stream)(style, text);
}

/** The same for many texts. */
export function painter(stream: NodeJS.WriteStream): Painter {
  if (!wantsColour(stream)) return (_style, text) => text;
  return (style, text) => {
    const [on, off] = inspect.colors[style] ?? [0, 0];
    return `${COLOUR}${on};${text}${COLOUR}${off};`;
  };
}

function wantsColour(stream: NodeJS.WriteStream): boolean {
  if (process.env['NO_COLOR']) return false;
  const forced = process.env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0';
  return stream.isTTY;
}

/** Text for a terminal: harmless, with its colours. */
function shown(text: string): string {
  const [first = '', ...coloured] = text.split(COLOUR);
  const parts = coloured.map((part) => {
    const end = part.indexOf(';');
    return `\x1b[${part.slice(0, end)}m${textOf(part.slice(end + 1))}`;
  });
  return textOf(first) + parts.join('');
}

function write(stream: NodeJS.WriteStream, text: string): boolean {
  return stream.write(text);
}

/**
 * A reader that goes away (`verbs devices | head -1`) is no failure: the rest of the output is dropped. Other write
 * errors, a full disk behind a redirection for one, are.
 */
export function tolerateClosedPipes(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0);
    note(`verbs: cannot write to standard output: ${error.message}`);
    process.exit(1);
  });
  process.stderr.on('error', () => {
    // No one is left to read an error.
  });
}

/** Prints an error, with what would help. Returns the exit code that it means. */
export function report(error: unknown): number {
  note(`${paint(process.stderr, 'red', 'verbs:')} ${messageOf(error)}`);
  if (error instanceof Failure) {
    if (error.hint !== undefined) note(`  ${error.hint}`);
    return error.exitCode;
  }
  if (process.env['NODE_DEBUG']?.split(',').includes('verbs') && error instanceof Error) note(error.stack ?? '');
  return 1;
}
