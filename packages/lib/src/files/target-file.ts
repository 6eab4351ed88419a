import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { fileFailure } from '../failure/index.js';

/** The file to receive into. `discard()` removes it. */
export class TargetFile {
  readonly path: string;
  readonly #descriptor: number;
  #open = true;

  constructor(path: string) {
    this.path = path;
    try {
      this.#descriptor = openSync(path, 'wx');
    } catch (error) {
      throw fileFailure(`cannot create ${path}`, error);
    }
  }

  write(bytes: Uint8Array, position: number): void {
    try {
      for (let done = 0; done < bytes.length;) {
        done += writeSync(this.#descriptor, bytes, done, bytes.length - done, position + done);
      }
    } catch (error) {
      throw fileFailure(`cannot write ${this.path}`, error);
    }
  }

  /** Ends the writing. */
  close(): void {
    if (this.#open) closeSync(this.#descriptor);
    this.#open = false;
  }

  discard(): void {
    this.close();
    rmSync(this.path, { force: true });
  }
}
