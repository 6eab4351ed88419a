import { AccessFlags, SendFlags, WrOpcode } from '../enums/index.js';
import type { ProtectionDomain } from '../device/protection-domain.js';
import type { MemoryRegion } from '../memory/memory-region.js';
import { SendBatch } from '../posting/send-batch.js';

/** The `wrId` of the first slot; those of receive requests are below. */
export const SENDS = 1 << 16;

const REQUEST = { opcode: WrOpcode.SEND_WITH_IMM, sendFlags: SendFlags.SIGNALED, immData: 0 } as const;

/**
 * The slots for messages that one end of a socket sends: send requests with memory of their own, used one after the other, since their
 * completions come in their order. Bytes are collected in the open slot until it is full, or its message leaves.
 *
 * The memory is allocated with the first bytes: a socket that only receives, or is idle, has none. With the first full message the
 * slots move to memory that a peer on the same host can map. All pages of that are there at once, so it is for bulk only.
 */
export class SendRing {
  /** The slots, and behind them those of messages without memory. */
  readonly batch: SendBatch;
  /** Bytes of a slot. */
  readonly size: number;
  readonly #pd: ProtectionDomain;
  readonly #slots: number;
  #plain: MemoryRegion | undefined;
  #shared: MemoryRegion | undefined;
  /** The memory of each slot. */
  readonly #memory: (MemoryRegion | undefined)[];
  /** A message was full. */
  #bulk = false;
  #open = 0;
  #filled = 0;
  #free: number;

  constructor(pd: ProtectionDomain, slots: number, size: number, extras: number) {
    this.#pd = pd;
    this.#slots = slots;
    this.#free = slots;
    this.size = size;
    this.batch = new SendBatch(slots + extras);
    this.#memory = Array.from({ length: slots }, () => undefined);
  }

  /** Bytes in the open slot. */
  get filled(): number {
    return this.#filled;
  }

  /** Messages that have left and are not completed. */
  get underWay(): number {
    return this.#slots - this.#free;
  }

  /** Whether the open slot is free. */
  get hasRoom(): boolean {
    return this.#free !== 0;
  }

  /**
   * Copies bytes into the open slot, from `from` on. Returns how many it took.
   *
   * @throws VerbsError ENOMEM
   */
  append(bytes: Uint8Array, from: number): number {
    const memory = this.#memoryOfOpen();
    const count = Math.min(bytes.byteLength - from, this.size - this.#filled);
    const part = count === bytes.byteLength ? bytes : bytes.subarray(from, from + count);
    memory.bytes.set(part, this.#open * this.size + this.#filled);
    this.#filled += count;
    return count;
  }

  /** The open slot, whose message is complete; the next one is open. */
  take(): number {
    const slot = this.#open;
    this.batch.setSge(slot, 0, slot * this.size, this.#filled);
    if (!this.#bulk && this.#filled === this.size) {
      this.#bulk = true;
      this.#shared = this.#allocateShared();
    }
    this.#filled = 0;
    this.#free--;
    this.#open = slot + 1 === this.#slots ? 0 : slot + 1;
    return slot;
  }

  /** The oldest message is complete. */
  release(): void {
    this.#free++;
  }

  close(): void {
    this.#plain?.close();
    this.#shared?.close();
  }

  #memoryOfOpen(): MemoryRegion {
    const slot = this.#open;
    const mr = this.#shared ?? (this.#plain ??= this.#allocate(false));
    if (this.#memory[slot] !== mr) {
      const sgList = [{ mr, offset: slot * this.size, length: this.size }];
      this.batch.set(slot, { ...REQUEST, wrId: SENDS + slot, sgList });
      this.#memory[slot] = mr;
    }
    return mr;
  }

  #allocateShared(): MemoryRegion | undefined {
    try {
      return this.#allocate(true);
    } catch {
      return undefined; // no memory, or beyond the limit of a file's size: the other memory does as well
    }
  }

  #allocate(shared: boolean): MemoryRegion {
    return this.#pd.allocMr(this.#slots * this.size, AccessFlags.LOCAL_WRITE, { shared });
  }
}
