import { types } from 'node:util';
import { closedError } from '../base/errors.js';
import { detachedError, isDetached } from '../base/fields.js';
import { rangeError, typeError } from '../base/validate.js';
import { AccessFlags } from '../enums/index.js';
import type { MemoryRegion } from '../memory/memory-region.js';
import type { ProtectionDomain } from '../device/protection-domain.js';
import type { MessageData } from './message.js';

const encoder = new TextEncoder();

/** Buffers for messages on their way, each of the same size, in a region that is registered at the first use. */
export class SendBuffers {
  readonly #pd: ProtectionDomain;
  readonly #count: number;
  readonly #size: number;
  readonly #owner: string;
  readonly #limit: string;
  #mr: MemoryRegion | undefined;
  readonly #free: number[] = [];
  /** Those who wait for a free buffer, first come first served. */
  readonly #waiting: { resolve: (slot: number) => void; reject: (reason: unknown) => void }[] = [];
  #inUse = 0;
  #closed = false;

  /** For errors: `owner` is what the program closes, and `limit` says whose size it is. */
  constructor(pd: ProtectionDomain, count: number, size: number, { owner, limit }: { owner: string; limit: string }) {
    this.#pd = pd;
    this.#count = count;
    this.#size = size;
    this.#owner = owner;
    this.#limit = limit;
  }

  /** Copies the data into a buffer, waits for one before if need be, and gives it back when `send` is done. */
  async use<T>(data: MessageData, send: (sge: { mr: MemoryRegion; offset: number; length: number }) => Promise<T>) {
    let bytes = bytesOf(data, this.#size, this.#limit);
    const mr = this.#region();
    let slot = this.#free.pop();
    if (slot === undefined) {
      // The program may change its data meanwhile.
      bytes = new Uint8Array(bytes); // slice() of a Buffer is a view
      slot = await this.#nextFree();
    }
    this.#inUse++;
    try {
      const offset = slot * this.#size;
      mr.bytes.set(bytes, offset);
      return await send({ mr, offset, length: bytes.byteLength });
    } finally {
      this.#inUse--;
      this.#giveBack(slot);
    }
  }

  close(): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(closedError(this.#owner, 'ibv_post_send'));
    if (this.#inUse === 0) this.#mr?.close();
  }

  #region(): MemoryRegion {
    if (this.#closed) throw closedError(this.#owner, 'ibv_post_send');
    if (this.#mr === undefined) {
      this.#mr = this.#pd.allocMr(this.#count * this.#size, AccessFlags.LOCAL_WRITE);
      for (let slot = this.#count - 1; slot >= 0; slot--) this.#free.push(slot);
    }
    return this.#mr;
  }

  #nextFree(): Promise<number> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #giveBack(slot: number): void {
    const next = this.#waiting.shift();
    if (next !== undefined) next.resolve(slot);
    else this.#free.push(slot);
    if (this.#closed && this.#inUse === 0) this.#mr?.close();
  }
}

/** The data as it is now: a copy is only made of text. */
function bytesOf(data: unknown, max: number, limit: string): Uint8Array {
  let bytes: Uint8Array;
  if (typeof data === 'string') bytes = encoder.encode(data);
  else if (types.isUint8Array(data)) bytes = data;
  else if (types.isAnyArrayBuffer(data)) bytes = viewOf(data);
  else throw typeError('data', 'a Uint8Array, an ArrayBuffer or text', data);
  if (isDetached(bytes)) throw detachedError('data');
  if (bytes.byteLength <= max) return bytes;
  throw rangeError('data.byteLength', `at most ${max}, ${limit}`, bytes.byteLength);
}

function viewOf(buffer: ArrayBufferLike): Uint8Array {
  try {
    return new Uint8Array(buffer);
  } catch {
    throw detachedError('data');
  }
}
