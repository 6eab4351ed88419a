import { Fields } from '../rendezvous/fields.js';

/**
 * How a file travels over the Comm Channel: a header, then messages with the file's bytes, then the
 * receiver's response. Header and response begin with a mark that no line of text contains.
 */
const MARK = Buffer.from('\0verbs file\0');

/** File names of Linux have 255 bytes at most. */
const MAX_NAME = 255;

export interface FileHeader {
  name: string;
  bytes: number;
}

/** The receiver's response: after the last byte, or when it rejects the file. */
export type FileResponse = { bytes: number; sha256: string } | { error: string };

export function headerMessage(header: FileHeader): Buffer {
  return Buffer.concat([MARK, Buffer.from(JSON.stringify(header))]);
}

export function responseMessage(response: FileResponse): Buffer {
  return Buffer.concat([MARK, Buffer.from(JSON.stringify(response))]);
}

/** Whether the message is a header or a response. */
export function isMarked(message: Uint8Array): boolean {
  return message.length >= MARK.length && MARK.equals(message.subarray(0, MARK.length));
}

/** @throws Error for a malformed header */
export function readHeader(message: Uint8Array): FileHeader {
  const fields = read(message, 'header of a file');
  return { name: fields.text('name', MAX_NAME), bytes: fields.integer('bytes') };
}

/** @throws Error for a malformed response */
export function readResponse(message: Uint8Array): FileResponse {
  const fields = read(message, 'response to a file');
  if (fields.has('error')) return { error: fields.text('error', 1000) };
  return { bytes: fields.integer('bytes'), sha256: fields.text('sha256', 64) };
}

function read(message: Uint8Array, what: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(message.subarray(MARK.length)).toString());
  } catch {
    // The exception's own text would contain the peer's bytes.
    throw new Error(`the peer's ${what} is not JSON`);
  }
  return new Fields(value, what);
}
