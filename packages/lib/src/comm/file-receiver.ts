import { type Hash, createHash } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileFailure } from '../failure/index.js';
import { type FileResponse, responseMessage, isMarked, readHeader } from './protocol.js';

/** The kind of a received message. The caller sends `response` to the peer. */
export type Arrived =
  | { kind: 'text' }
  | { kind: 'part'; name: string; bytes: number; total: number }
  | { kind: 'file'; name: string; result: FileResponse; response: Uint8Array };

interface Incoming {
  name: string;
  total: number;
  bytes: number;
  hash: Hash;
  copy: { descriptor: number; path: string } | undefined;
}

/**
 * Receives the messages of one peer and finds the files among them. It computes a file's checksum; with a directory it
 * also stores each file there, and removes an incomplete one.
 */
export class FileReceiver implements Disposable {
  readonly #directory: string | undefined;
  #incoming: Incoming | undefined;
  /** Remaining bytes of a rejected file. */
  #unwanted = 0;

  constructor(directory?: string) {
    this.#directory = directory;
  }

  receive(message: Uint8Array): Arrived {
    if (this.#incoming !== undefined) return this.#append(this.#incoming, message);
    if (this.#unwanted > 0) {
      this.#unwanted = Math.max(0, this.#unwanted - message.length);
      return { kind: 'part', name: '', bytes: 0, total: 0 };
    }
    if (!isMarked(message)) return { kind: 'text' };
    return this.#begin(message);
  }

  /** To be called when the peer is gone. Removes an unfinished copy. */
  [Symbol.dispose](): void {
    const copy = this.#incoming?.copy;
    this.#incoming = undefined;
    if (copy === undefined) return;
    closeSync(copy.descriptor);
    rmSync(copy.path, { force: true });
  }

  #begin(message: Uint8Array): Arrived {
    let name = '';
    try {
      const header = readHeader(message);
      name = header.name;
      this.#unwanted = header.bytes;
      const incoming = { name, total: header.bytes, bytes: 0, hash: createHash('sha256'), copy: this.#create(name) };
      this.#unwanted = 0;
      this.#incoming = incoming;
      return incoming.total === 0 ? this.#finish(incoming) : { kind: 'part', name, bytes: 0, total: incoming.total };
    } catch (error) {
      return rejection(name, error);
    }
  }

  #create(name: string): Incoming['copy'] {
    if (this.#directory === undefined) return undefined;
    // The peer chose the name; the file must stay inside the directory.
    if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) throw new Error('that is no file name');
    const path = join(this.#directory, name);
    try {
      return { descriptor: openSync(path, 'wx', 0o600), path };
    } catch (error) {
      throw fileFailure('it cannot be stored', error);
    }
  }

  #append(incoming: Incoming, message: Uint8Array): Arrived {
    const { name, total } = incoming;
    try {
      if (message.length > total - incoming.bytes) throw new Error('there is more of it than was announced');
      incoming.hash.update(message);
      if (incoming.copy !== undefined) writeAll(incoming.copy.descriptor, message);
    } catch (error) {
      this[Symbol.dispose]();
      this.#unwanted = Math.max(0, total - incoming.bytes - message.length);
      return rejection(name, error);
    }
    incoming.bytes += message.length;
    return incoming.bytes === total ? this.#finish(incoming) : { kind: 'part', name, bytes: incoming.bytes, total };
  }

  #finish({ name, total, hash, copy }: Incoming): Arrived {
    this.#incoming = undefined;
    if (copy !== undefined) closeSync(copy.descriptor);
    const result = { bytes: total, sha256: hash.digest('hex') };
    return { kind: 'file', name, result, response: responseMessage(result) };
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
  } catch (error) {
    throw fileFailure('it cannot be stored', error);
  }
}

function rejection(name: string, error: unknown): Arrived {
  const result = { error: error instanceof Error ? error.message : String(error) };
  return { kind: 'file', name, result, response: responseMessage(result) };
}
