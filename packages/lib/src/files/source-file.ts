import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Failure, fileFailure } from '../failure/index.js';

/** The file to send. */
export class SourceFile {
  readonly path: string;
  readonly size: number;
  readonly #descriptor: number;

  private constructor(path: string, descriptor: number, size: number) {
    this.path = path;
    this.size = size;
    this.#descriptor = descriptor;
  }

  static open(path: string): SourceFile {
    let descriptor: number;
    try {
      descriptor = openSync(path, 'r');
    } catch (error) {
      throw fileFailure(`cannot read ${path}`, error);
    }
    const stat = fstatSync(descriptor);
    if (stat.isFile()) return new SourceFile(path, descriptor, stat.size);
    closeSync(descriptor);
    throw new Failure(`cannot read ${path}: it is no regular file`, { hint: 'name a file' });
  }

  /** Fills `bytes`, which may be registered memory: there is no copy in between. */
  read(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length;) {
      const count = readSync(this.#descriptor, bytes, done, bytes.length - done, position + done);
      if (count === 0) throw new Failure(`${this.path} has become shorter while it was sent`, { hint: 'start again' });
      done += count;
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
