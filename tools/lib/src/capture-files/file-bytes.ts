import { readSync } from 'node:fs';

/** A file's bytes in order. Memory holds no more of them than one call asks for. */
export class FileBytes {
  readonly #descriptor: number;
  #buffer = Buffer.alloc(1 << 20);
  #start = 0;
  #end = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /**
   * The next bytes, fewer at the end of the file; `skip()` consumes them. A view that the next call may overwrite.
   */
  peek(wanted: number): DataView {
    this.#fill(wanted);
    const size = Math.min(wanted, this.#end - this.#start);
    return new DataView(this.#buffer.buffer, this.#buffer.byteOffset + this.#start, size);
  }

  skip(count: number): void {
    this.#start += count;
  }

  #fill(wanted: number): void {
    if (this.#end - this.#start >= wanted) return;
    const target = wanted > this.#buffer.length ? Buffer.alloc(wanted * 2) : this.#buffer;
    this.#buffer.copy(target, 0, this.#start, this.#end);
    this.#buffer = target;
    this.#end -= this.#start;
    this.#start = 0;
    while (this.#end < wanted) {
      const count = readSync(this.#descriptor, this.#buffer, this.#end, this.#buffer.length - this.#end, null);
      if (count === 0) return;
      this.#end += count;
    }
  }
}
