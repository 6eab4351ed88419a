import { RECV, SGE } from '../base/records.js';
import type { Resource } from '../lifetime/resource.js';
import { type RecordSpace, writeRecv } from './request-records.js';

interface Region extends Resource {
  readonly bytes: Uint8Array;
}

interface Element {
  region: Region;
  offset: number;
  length: number;
}

/** The memory of a receive request, as it was when the request was posted. */
export class ReceiveElements {
  /** The number that its request was posted with. */
  id = 0n;
  readonly #elements: readonly Element[];

  /** Throws for a request that `postRecv` would reject, the same error. */
  constructor(wr: unknown) {
    const record = new Reader();
    writeRecv(record, wr, 'wr');
    this.#elements = record.elements();
  }

  /** Bytes. */
  get length(): number {
    return this.#elements.reduce((sum, { length }) => sum + length, 0);
  }

  /** Whether a message of that many bytes that arrived here can be moved to `other`; by default one of any length. */
  fits(other: ReceiveElements, bytes = this.length): boolean {
    if (this.#elements.some(({ region }) => region.closed)) return false;
    return this.#equals(other) || (this.#readable() && other.#readable() && bytes <= other.length);
  }

  /** Moves the first `count` bytes to `other`, unless they are there already. */
  moveTo(other: ReceiveElements, count: number): void {
    if (this.#equals(other)) return;
    const message = Buffer.concat(this.#elements.map(bytesOf), Math.min(count, this.length));
    let done = 0;
    for (const element of other.#elements) {
      const target = bytesOf(element);
      target.set(message.subarray(done, done + target.byteLength));
      done += target.byteLength;
    }
  }

  #equals(other: ReceiveElements): boolean {
    const others = other.#elements;
    if (others.length !== this.#elements.length) return false;
    return this.#elements.every(({ region, offset, length }, i) => {
      const one = others[i];
      return one?.region === region && one.offset === offset && one.length === length;
    });
  }

  /** Device memory, imported regions and the like have no bytes here. */
  #readable(): boolean {
    return this.#elements.every((element) => bytesOf(element).byteLength === element.length);
  }
}

function bytesOf({ region, offset, length }: Element): Uint8Array {
  return region.bytes.subarray(offset, offset + length);
}

/** Where the checks of a receive request write, so that its elements can be read. */
class Reader implements RecordSpace {
  view = new DataView(new ArrayBuffer(RECV.BYTES + SGE.BYTES));
  readonly #regions: Region[] = [];
  #end = 0;

  take(bytes: number): number {
    const at = this.#end;
    this.#end += bytes;
    if (this.#end > this.view.byteLength) {
      const larger = new Uint8Array(2 * this.#end);
      larger.set(new Uint8Array(this.view.buffer));
      this.view = new DataView(larger.buffer);
    }
    return at;
  }

  hold(object: Resource): void {
    this.#regions.push(object as Region);
  }

  elements(): Element[] {
    return this.#regions.map((region, i) => {
      const at = RECV.BYTES + i * SGE.BYTES;
      const offset = Number(this.view.getBigUint64(at + SGE.OFFSET, true));
      return { region, offset, length: this.view.getUint32(at + SGE.LENGTH, true) };
    });
  }
}
