// The memory of one side of an RC connection: buffers to send from and to receive into, a window that the peer writes to
// and the program reads, and an area that only the NIC uses once it is filled: the gremlin may unmap it.
import { AccessFlags } from '@verbs/core';

export const LONGEST = 16384;
export const DEPTH = 8;
export const RECEIVES = 16;
export const SLOT = 4096;
const PAGE = 4096;
/** More than receive requests, so that a slot is verified before the peer writes to it again. */
const WINDOW_SLOTS = 32;
const WINDOW = WINDOW_SLOTS * SLOT;
const READABLE = 65536;
const SINK = DEPTH * SLOT;
/** A page for a counter. */
const AREA = READABLE + SINK + PAGE;

export class RcMemory {
  constructor(pd, pattern, me) {
    const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC } = AccessFlags;
    this.tx = pd.allocMr(DEPTH * LONGEST, LOCAL_WRITE);
    this.rx = pd.allocMr(RECEIVES * LONGEST, LOCAL_WRITE);
    const shared = new SharedArrayBuffer(WINDOW + PAGE + AREA);
    this.shared = pd.regMr(shared, LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC);
    this.window = Buffer.from(shared);
    // Whole pages, wherever the buffer begins.
    this.area = WINDOW + (PAGE - (Number(this.shared.addr % BigInt(PAGE)) % PAGE));
    readable(pattern, me).copy(this.window, this.area);
  }

  /** What the peer needs. */
  get remote() {
    const { addr, rkey } = this.shared;
    return { addr: String(addr), rkey, area: this.area };
  }

  /** The pages that the program itself never touches. */
  get pages() {
    return { addr: String(this.shared.addr + BigInt(this.area)), length: AREA };
  }

  close() {
    for (const mr of [this.tx, this.rx, this.shared]) mr.close();
  }
}

/** What a side offers for READs. */
const readable = (pattern, side) => pattern.piece(side * 4099, READABLE);

/** The memory of the peer, as this side uses it. */
export class PeerMemory {
  #addr;
  #area;

  constructor({ addr, rkey, area }) {
    this.#addr = BigInt(addr);
    this.#area = BigInt(addr) + BigInt(area ?? 0);
    this.rkey = rkey;
  }

  /** Where message `number` is written to. */
  window(number) {
    return this.#addr + BigInt(slotOf(number));
  }

  /** Where a send slot may write what nobody else reads. */
  sink(slot) {
    return this.#area + BigInt(READABLE + slot * SLOT);
  }

  get counter() {
    return this.#area + BigInt(READABLE + SINK);
  }

  /** A place to read from, and what is there. */
  read(pattern, peer, random) {
    const size = 1 + Math.floor(random() * LONGEST);
    const offset = Math.floor(random() * (READABLE - size));
    return {
      addr: this.#area + BigInt(offset),
      size,
      expected: readable(pattern, peer).subarray(offset, offset + size),
    };
  }
}

export const slotOf = (number) => (number % WINDOW_SLOTS) * SLOT;
