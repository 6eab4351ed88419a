import type { EventChannel } from '../base/event-channel.js';
import { waitingFor, type Settler, type Waiting } from '../base/waiting.js';
import type { PeerAddr } from './peer-addr.js';

/** The waiting messages to one peer, in the order of the calls. They wait for the handshake's end, then for room. */
export class Outbox implements Waiting {
  readonly #sends: EventChannel;
  readonly #emptied: () => void;
  readonly #waiting: Waiting[] = [];
  readonly #handshake = new AbortController();

  /** `emptied` is called when no message waits any more; the outbox is not used again. */
  constructor(sends: EventChannel, emptied: () => void) {
    this.#sends = sends;
    this.#emptied = emptied;
  }

  /** To be called once, with the first message in it. `handshake` is the peer if its handshake may still go on. */
  start(handshake: PeerAddr | undefined): void {
    if (handshake === undefined) {
      this.#sends.wait(this);
      return;
    }
    handshake.established({ signal: this.#handshake.signal }).then(
      () => {
        if (this.#waiting.length > 0) this.#sends.wait(this);
      },
      (error: unknown) => {
        this.fail(error);
      },
    );
  }

  /** `send` returns undefined while there is no room. */
  add(send: () => true | undefined, settler: Settler<true>): void {
    const waiting = waitingFor(send, settler, () => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      if (this.#waiting.length > 0) return;
      this.#handshake.abort();
      this.#sends.leave(this);
      this.#emptied();
    });
    this.#waiting.push(waiting);
  }

  /** A message leaves the list when it is settled. */
  attempt(): boolean {
    while (this.#waiting[0]?.attempt() === true);
    return this.#waiting.length === 0;
  }

  fail(reason: unknown): void {
    for (const waiting of [...this.#waiting]) waiting.fail(reason);
  }
}
