import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bytes of a window, and how many windows are kept: as many captures of processes, one behind the other, stay quick. */
const WINDOW = 1 << 16;
const MOST_WINDOWS = 512;

interface Window {
  view: DataView<ArrayBuffer>;
  /** Bytes of it that the file has. */
  size: number;
  /** When it was used last. */
  used: number;
}

/**
 * The bytes of a file, at any position. Memory holds a few windows of it: a reader that goes through several parts of the
 * file at once finds each of them there.
 */
export class FileBytes implements Disposable {
  readonly #descriptor: number;
  readonly #windows = new Map<number, Window>();
  #uses = 0;
  #scratch = new DataView(new ArrayBuffer(WINDOW));
  #from = 0;
  #to = 0;
  /** What `at()` found: these bytes from `offset` on. A later call may overwrite them. */
  view = this.#scratch;
  offset = 0;

  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
    try {
      // What comes through a pipe can be read once only, and from the beginning.
      if (!fstatSync(this.#descriptor).isFile()) this.#descriptor = copied(this.#descriptor);
    } catch (error) {
      closeSync(this.#descriptor);
      throw error;
    }
  }

  /** Puts the bytes from `position` on into `view`, at `offset`. Returns how many there are: fewer at the end of the file. */
  at(position: number, wanted: number): number {
    if (position < this.#from || position + wanted > this.#to) this.#fetch(position, wanted);
    this.offset = position - this.#from;
    return Math.max(0, Math.min(wanted, this.#to - position));
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #fetch(position: number, wanted: number): void {
    const number = Math.floor(position / WINDOW);
    const start = number * WINDOW;
    if (position + wanted > start + WINDOW) {
      if (wanted > this.#scratch.byteLength) this.#scratch = new DataView(new ArrayBuffer(wanted * 2));
      this.#see(this.#scratch, position, read(this.#descriptor, this.#scratch, position, wanted));
      return;
    }
    let window = this.#windows.get(number);
    if (window === undefined) {
      window = this.#oldest() ?? { view: new DataView(new ArrayBuffer(WINDOW)), size: 0, used: 0 };
      window.size = read(this.#descriptor, window.view, start, WINDOW);
      this.#windows.set(number, window);
    }
    window.used = this.#uses += 1;
    this.#see(window.view, start, window.size);
  }

  #see(view: DataView<ArrayBuffer>, from: number, size: number): void {
    this.view = view;
    this.#from = from;
    this.#to = from + size;
  }

  /** Takes out the window that was not used for the longest time, if there are enough. */
  #oldest(): Window | undefined {
    if (this.#windows.size < MOST_WINDOWS) return undefined;
    let oldest: number | undefined;
    let used = Infinity;
    for (const [number, window] of this.#windows) {
      if (window.used >= used) continue;
      oldest = number;
      used = window.used;
    }
    const window = this.#windows.get(oldest ?? -1);
    this.#windows.delete(oldest ?? -1);
    return window;
  }
}

function read(descriptor: number, view: DataView, position: number, wanted: number): number {
  let size = 0;
  while (size < wanted) {
    const count = readSync(descriptor, view, size, wanted - size, position + size);
    if (count === 0) break;
    size += count;
  }
  return size;
}

/** A file without a name that has all that comes from there. Closes the descriptor. */
function copied(from: number): number {
  const directory = mkdtempSync(join(tmpdir(), 'verbs-pipe-'));
  try {
    const to = openSync(join(directory, 'capture'), 'wx+');
    const buffer = Buffer.alloc(1 << 20);
    for (let count; (count = readSync(from, buffer)) > 0;) {
      for (let at = 0; at < count;) at += writeSync(to, buffer, at, count - at);
    }
    closeSync(from);
    return to;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
