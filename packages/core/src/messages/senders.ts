import type { ProtectionDomain } from '../device/protection-domain.js';
import type { WorkCompletion } from '../completion/work-completion.js';
import type { AddressHandle } from '../qp/address-handle.js';

/** How many address handles are kept. For the next sender, the handle is closed that was idle for the longest time. */
const CAPACITY = 1024;

interface Sender {
  ah: AddressHandle;
  /** Replies that are on their way. */
  replies: number;
  /** Its place went to another one. */
  dropped: boolean;
}

/** The address handles of the senders of datagrams. */
export class Senders {
  readonly #pd: ProtectionDomain;
  readonly #portNum: number;
  // A Map keeps the order of insertion: the first entry is the one that was used least recently.
  readonly #senders = new Map<string, Sender>();

  constructor(pd: ProtectionDomain, portNum: number) {
    this.#pd = pd;
    this.#portNum = portNum;
  }

  /** Calls `send` with the address handle of a datagram's sender, which stays open meanwhile. */
  async use<T>(wc: WorkCompletion, grh: Uint8Array, send: (ah: AddressHandle) => Promise<T>): Promise<T> {
    const sender = this.#find(wc, grh);
    sender.replies++;
    try {
      return await send(sender.ah);
    } finally {
      sender.replies--;
      if (sender.dropped && sender.replies === 0) sender.ah.close();
    }
  }

  close(): void {
    for (const key of [...this.#senders.keys()]) this.#drop(key);
  }

  #find(wc: WorkCompletion, grh: Uint8Array): Sender {
    const key = keyOf(wc, grh);
    let sender = this.#senders.get(key);
    if (sender === undefined) {
      const ah = this.#pd.createAhFromWc(wc, grh, this.#portNum);
      sender = { ah, replies: 0, dropped: false };
      const [oldest] = this.#senders.keys();
      if (this.#senders.size >= CAPACITY && oldest !== undefined) this.#drop(oldest);
    } else {
      this.#senders.delete(key);
    }
    this.#senders.set(key, sender);
    return sender;
  }

  #drop(key: string): void {
    const sender = this.#senders.get(key);
    this.#senders.delete(key);
    if (sender === undefined) return;
    sender.dropped = true;
    if (sender.replies === 0) sender.ah.close();
  }
}

/**
 * What the address handle depends on: the addresses of the routing header, service level and LIDs. With IPv4 the header
 * is in the last 20 of the 40 bytes, its addresses in the last 8; the first 20 may hold anything.
 */
function keyOf({ sl, slid, dlidPathBits }: WorkCompletion, grh: Uint8Array): string {
  const [first = 0] = grh;
  const addresses = first >> 4 === 6 ? grh.subarray(8, 40) : grh.subarray(32, 40);
  return `${sl}/${slid}/${dlidPathBits}/${Buffer.from(addresses.buffer, addresses.byteOffset, addresses.byteLength).toString('latin1')}`;
}
