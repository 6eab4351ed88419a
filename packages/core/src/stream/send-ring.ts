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
 * The memory is allocated with the first bytes: a socket that only receives, or is idle, has none.
 */
export class SendRing {
  /** The slots, and behind them those of messages without memory. */
  readonly batch: SendBatch;
  /** Bytes of a slot. */
  readonly size: number;
  readonly #pd: ProtectionDomain;
  readonly #slots: number;
  #memory: MemoryRegion | undefined;
  #open = 0;
  #filled = 0;
  #free: number;

  constructor(pd: ProtectionDomain, slots: number, size: number, extras: number) {
    this.#pd = pd;
    this.#slots = slots;
    this.#free = slots;
    this.size = size;
    this.batch = new SendBatch(slots + extras);
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
    const { bytes: memory } = (this.#memory ??= this.#allocate());
    const count = Math.min(bytes.byteLength - from, this.size - this.#filled);
    const part = count === bytes.byteLength ? bytes : bytes.subarray(from, from + count);
    memory.set(part, this.#open * this.size + this.#filled);
    this.#filled += count;
    return count;
  }

  /** The open slot, whose message is complete; the next one is open. */
  take(): number {
    const slot = this.#open;
    this.batch.setSge(slot, 0, slot * this.size, this.#filled);
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
    this.#memory?.close();
  }

  #allocate(): MemoryRegion {
    const mr = this.#pd.allocMr(this.#slots * this.size, AccessFlags.LOCAL_WRITE, { shared: true });
    for (let slot = 0; slot < this.#slots; slot++) {
      const sgList = [{ mr, offset: slot * this.size, length: this.size }];
      this.batch.set(slot, { ...REQUEST, wrId: SENDS + slot, sgList });
    }
    return mr;
  }
}
