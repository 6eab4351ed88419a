import type { WaitOptions } from '@verbs/core';
import { liveSignalOf } from '../base/arguments.js';
import { DocaError, DocaStatus } from '../base/errors.js';
import type { EventChannel } from '../base/event-channel.js';
import { Channel } from '../base/native.js';
import type { Settler } from '../base/waiting.js';
import { Outbox } from './outbox.js';
import { pauseFor, type PeerAddr } from './peer-addr.js';

/** The messages of an endpoint that wait: an outbox for each peer that cannot take a message now. */
export class PendingSends {
  readonly #open: (channel: number) => EventChannel;
  #channel: EventChannel | undefined;
  readonly #outboxes = new Map<PeerAddr, Outbox>();
  readonly #established = new WeakSet<PeerAddr>();

  /** `open` makes an event channel of the endpoint. */
  constructor(open: (channel: number) => EventChannel) {
    this.#open = open;
  }

  /** Whether messages to this peer wait already, so that the next one must wait behind them. */
  has(peer: PeerAddr): boolean {
    return this.#outboxes.has(peer);
  }

  /** Whether the peer's handshake is known to have ended. */
  isEstablished(peer: PeerAddr): boolean {
    return this.#established.has(peer);
  }

  setEstablished(peer: PeerAddr): void {
    this.#established.add(peer);
  }

  /** `send` returns undefined while the queue is full. Before the end of the handshake it is not called. */
  add(peer: PeerAddr, established: boolean, send: () => true | undefined, settler: Settler<true>): void {
    const known = this.#outboxes.get(peer);
    if (known !== undefined) {
      known.add(send, settler);
      return;
    }
    this.#channel ??= this.#open(Channel.SEND);
    const outbox = new Outbox(this.#channel, () => this.#outboxes.delete(peer));
    this.#outboxes.set(peer, outbox);
    outbox.add(send, settler);
    outbox.start(established ? undefined : peer);
  }

  /** Resolves when no message to this peer waits, or is in flight. */
  async drained(peer: PeerAddr, options: WaitOptions | undefined): Promise<void> {
    for (let pause = 0; ; pause = Math.min(pause + 1, 10)) {
      const signal = liveSignalOf(options);
      if (peer.updateInfo() === 'aborted') {
        throw new DocaError(DocaStatus.CONNECTION_RESET, peer.syscall('update_info'));
      }
      if (!this.has(peer) && peer.counters().sendInFlightMessages === 0n) return;
      await pauseFor(pause, signal);
    }
  }

  /** Rejects the messages to this peer. */
  fail(peer: PeerAddr, reason: unknown): void {
    this.#outboxes.get(peer)?.fail(reason);
  }

  /** Rejects all messages. */
  close(reason: unknown): void {
    this.#channel?.close();
    for (const outbox of [...this.#outboxes.values()]) outbox.fail(reason);
  }
}
