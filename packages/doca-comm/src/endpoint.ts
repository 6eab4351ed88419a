import { DocaError, DocaStatus } from './errors.js';
import { EndpointCalls, type Received } from './endpoint-calls.js';
import { EventChannel } from './event-channel.js';
import { Channel } from './native.js';
import { pauseFor, type PeerAddr } from './peer-addr.js';

/** The options of the waiting calls. */
export interface WaitOptions {
  /** Ends the waiting: the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** So many messages are handed out in one turn of Node's loop before others have theirs. */
const MESSAGES_PER_TURN = 256;

interface Waiting {
  attempt: () => boolean;
  fail: (reason: unknown) => void;
}

/**
 * One end of a channel (`doca_comm_channel_ep_t`): a service on the DPU with many clients, or a client on the host.
 *
 * @example
 * using dpu = openDevice('doca_dpu0');
 * using rep = openRepresentor(dpu, '0000:3b:00.0');
 * using service = new Endpoint({ device: dpu, deviceRep: rep });
 * service.listen('echo');
 * for await (const { peer, data } of service) await service.send(data, peer);
 */
export class Endpoint extends EndpointCalls implements AsyncIterable<Received> {
  #sends: EventChannel | undefined;
  #receives: EventChannel | undefined;
  readonly #waiting = new Set<Waiting>();
  /** The messages that wait for room, by peer, in the order of their calls. */
  readonly #outboxes = new Map<PeerAddr, Waiting[]>();
  readonly #established = new WeakSet<PeerAddr>();
  #handedOut = 0;

  /**
   * Sends; resolves when the message is in the queue. Messages to one peer go in the order of the calls, and one that is
   * full holds up nobody else. Waits for the end of the handshake. `message` must not be changed before it resolves.
   *
   * @throws DocaError as `sendTo`; `signal.reason`.
   */
  async send(
    message: Uint8Array,
    peer: PeerAddr | undefined = this.onlyPeer,
    options: WaitOptions = {},
  ): Promise<void> {
    if (peer === undefined) {
      throw new DocaError(DocaStatus.NOT_CONNECTED, 'doca_comm_channel_ep_sendto', 'connect, or name the peer');
    }
    options.signal?.throwIfAborted();
    if (!this.isService && !this.#established.has(peer)) {
      await peer.established(options);
      this.#established.add(peer);
    }
    const outbox = this.#outboxes.get(peer);
    if (outbox === undefined && this.sendTo(message, peer)) return;
    await new Promise<void>((resolve, reject) => {
      this.#enqueue(peer, message, resolve, reject, options.signal);
    });
  }

  /**
   * The next message. A service accepts clients while it waits here.
   *
   * @throws DocaError CONNECTION_RESET with `peer` if one is gone; NOT_CONNECTED when the endpoint is closed;
   * `signal.reason`.
   */
  async receive(options: WaitOptions = {}): Promise<Received> {
    options.signal?.throwIfAborted();
    if (++this.#handedOut >= MESSAGES_PER_TURN) {
      this.#handedOut = 0;
      await pauseFor(0, undefined);
    }
    const receives = this.#channels().receives;
    const found = receives.waiting ? undefined : this.recvFrom();
    if (found !== undefined) return found;
    return new Promise((resolve, reject) => {
      this.#wait(receives, () => this.recvFrom(), resolve, reject, options.signal);
    });
  }

  /**
   * Messages until the endpoint is closed. A service goes on when a client is gone: it disconnects it and emits 'lost'.
   * A client's iteration ends with CONNECTION_RESET.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Received, void, undefined> {
    for (;;) {
      try {
        yield await this.receive();
      } catch (error) {
        if (this.closed) return;
        const peer = lostPeer(error);
        if (peer === undefined || !this.isService) throw error;
        this.disconnect(peer);
        this.emit('lost', peer);
      }
    }
  }

  /** Resolves when everything that was sent to the peer is acknowledged: before a disconnect, for instance. */
  async drained(peer: PeerAddr | undefined = this.onlyPeer, options: WaitOptions = {}): Promise<void> {
    for (let pause = 0; peer !== undefined; pause = Math.min(pause + 1, 10)) {
      options.signal?.throwIfAborted();
      const state = peer.updateInfo();
      if (state === 'aborted')
        throw new DocaError(DocaStatus.CONNECTION_RESET, 'doca_comm_channel_peer_addr_update_info');
      if (!this.#outboxes.has(peer) && peer.counters().sendInFlightMessages === 0n) return;
      await pauseFor(pause, options.signal);
    }
  }

  override disconnect(peer: PeerAddr): void {
    super.disconnect(peer);
    const error = new DocaError(DocaStatus.NOT_CONNECTED, 'doca_comm_channel_ep_sendto', 'the peer was disconnected');
    for (const waiting of this.#outboxes.get(peer) ?? []) waiting.fail(error);
    this.#outboxes.delete(peer);
  }

  protected override onClose(): void {
    this.#sends?.close();
    this.#receives?.close();
    const error = new DocaError(DocaStatus.NOT_CONNECTED, 'doca_comm_channel_ep_destroy', 'the endpoint was closed');
    for (const waiting of [...this.#waiting]) waiting.fail(error);
  }

  #channels(): { sends: EventChannel; receives: EventChannel } {
    const handle = this.use('get_event_channel');
    this.#sends ??= new EventChannel(handle, Channel.SEND);
    this.#receives ??= new EventChannel(handle, Channel.RECV);
    return { sends: this.#sends, receives: this.#receives };
  }

  #enqueue(
    peer: PeerAddr,
    message: Uint8Array,
    resolve: () => void,
    reject: (reason: unknown) => void,
    signal: AbortSignal | undefined,
  ): void {
    const outbox = this.#outboxes.get(peer) ?? [];
    const waiting = this.#waiter(
      () => this.sendTo(message, peer) || undefined,
      resolve,
      reject,
      signal,
      () => {
        const at = outbox.indexOf(waiting);
        if (at >= 0) outbox.splice(at, 1);
      },
    );
    outbox.push(waiting);
    if (outbox.length > 1) return;
    this.#outboxes.set(peer, outbox);
    this.#channels().sends.wait(() => {
      // Each takes itself out when it is settled.
      while (outbox[0]?.attempt() === true);
      if (outbox.length > 0) return false;
      this.#outboxes.delete(peer);
      return true;
    });
  }

  #wait<T>(
    channel: EventChannel,
    attempt: () => T | undefined,
    resolve: (value: T) => void,
    reject: (reason: unknown) => void,
    signal: AbortSignal | undefined,
  ): void {
    const waiting = this.#waiter(attempt, resolve, reject, signal, () => {
      channel.leave(waiting.attempt);
    });
    try {
      channel.wait(waiting.attempt);
    } catch (error) {
      waiting.fail(error);
    }
  }

  /** What settles a promise once: by a successful attempt, an exception of one, the signal, or the endpoint's end. */
  #waiter<T>(
    attempt: () => T | undefined,
    resolve: (value: T) => void,
    reject: (reason: unknown) => void,
    signal: AbortSignal | undefined,
    leave: () => void,
  ): Waiting {
    const settle = () => {
      signal?.removeEventListener('abort', aborted);
      this.#waiting.delete(waiting);
      leave();
    };
    const waiting: Waiting = {
      attempt: () => {
        try {
          const result = attempt();
          if (result === undefined) return false;
          settle();
          resolve(result);
        } catch (error) {
          waiting.fail(error);
        }
        return true;
      },
      fail: (reason) => {
        settle();
        reject(reason);
      },
    };
    const aborted = () => {
      waiting.fail(signal?.reason);
    };
    this.#waiting.add(waiting);
    signal?.addEventListener('abort', aborted, { once: true });
    return waiting;
  }
}

/** The peer of a CONNECTION_RESET. */
function lostPeer(error: unknown): PeerAddr | undefined {
  if (!(error instanceof DocaError) || error.status !== DocaStatus.CONNECTION_RESET) return undefined;
  return (error as { peer?: PeerAddr }).peer;
}
