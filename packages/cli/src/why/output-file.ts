import { appendFileSync, closeSync, openSync } from 'node:fs';
import { Failure, fileFailure, fileReason } from '@verbs/lib/failure';

/** The file of --output. A disk that fills up ends what it holds, not the program that is told of. */
export class OutputFile implements Disposable {
  readonly #path: string;
  readonly #fd: number;
  #failure: Failure | undefined;

  constructor(path: string) {
    this.#path = path;
    try {
      this.#fd = openSync(path, 'w');
    } catch (error) {
      throw new Failure(`${path}: ${fileReason(error)}`, {
        hint: 'give --output a file that can be written',
        cause: error,
      });
    }
  }

  /** Why it ends before the last line. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  write(line: string): void {
    if (this.#failure !== undefined) return;
    try {
      appendFileSync(this.#fd, `${line}\n`);
    } catch (error) {
      this.#failure = fileFailure(`cannot write ${this.#path}`, error);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}
