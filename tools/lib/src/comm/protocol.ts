import { Fields } from '../rendezvous/fields.js';

/**
 * How a file travels over the Comm Channel: a header, then messages with nothing but the file's bytes, then the
 * receiver's answer. Header and answer begin with a mark that no line of text has; each other message is just that.
 */
const MARK = Buffer.from('\0verbs file\0');

/** File names of Linux have 255 bytes at most. */
const MAX_NAME = 255;

export interface FileHeader {
  name: string;
  bytes: number;
}

/** What the receiver says when the last byte is there, or when it will not have the file. */
export type FileAnswer = { bytes: number; sha256: string } | { error: string };

export function headerMessage(header: FileHeader): Buffer {
  return Buffer.concat([MARK, Buffer.from(JSON.stringify(header))]);
}

export function answerMessage(answer: FileAnswer): Buffer {
  return Buffer.concat([MARK, Buffer.from(JSON.stringify(answer))]);
}

/** Whether it is a header or an answer. */
export function isMarked(message: Uint8Array): boolean {
  return message.length >= MARK.length && MARK.equals(message.subarray(0, MARK.length));
}

/** @throws Error if the peer's header is none. */
export function readHeader(message: Uint8Array): FileHeader {
  const fields = read(message, 'header of a file');
  return { name: fields.text('name', MAX_NAME), bytes: fields.integer('bytes') };
}

/** @throws Error if the peer's answer is none. */
export function readAnswer(message: Uint8Array): FileAnswer {
  const fields = read(message, 'answer to a file');
  if (fields.has('error')) return { error: fields.text('error', 1000) };
  return { bytes: fields.integer('bytes'), sha256: fields.text('sha256', 64) };
}

function read(message: Uint8Array, what: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(message.subarray(MARK.length)).toString());
  } catch {
    // The text of the exception would show the peer's bytes.
    throw new Error(`the peer's ${what} is not JSON`);
  }
  return new Fields(value, what);
}
