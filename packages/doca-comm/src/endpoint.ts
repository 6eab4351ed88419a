import { signalOf, typeError } from './arguments.js';
import { DocaError, DocaStatus } from './errors.js';
import { EndpointCalls, type Received } from './endpoint-calls.js';
import { EventChannel } from './event-channel.js';
import { Channel } from './native.js';
import { Outbox } from './outbox.js';
import { pauseFor, PeerAddr } from './peer-addr.js';
import { waitingFor, type Settler, type Waiting } from './waiting.js';

/** The options of the waiting calls. */
export interface WaitOptions {
  /** Ends the waiting: the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** So many messages pass without a pause before others have their turn of Node's loop. */
const MESSAGES_PER_TURN = 256;

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
  readonly #outboxes = new Map<PeerAddr, Outbox>();
  readonly #established = new WeakSet<PeerAddr>();
  #passed = 0;

  /**
   * Sends; resolves when the message is in the queue. Messages to one peer go in the order of the calls, and one that is
   * full holds up nobody else. Waits for the end of the handshake. `message` must not be changed before it resolves.
   *
   * @throws DocaError as `sendTo`; `signal.reason`.
   */
  async send(message: Uint8Array, peer: PeerAddr | undefined = this.onlyPeer, options?: WaitOptions): Promise<void> {
    if (peer === undefined) {
      throw new DocaError(DocaStatus.NOT_CONNECTED, 'doca_comm_channel_ep_sendto', 'connect, or name the peer');
    }
    if (!(peer instanceof PeerAddr)) throw typeError('peer', 'a PeerAddr of this endpoint', peer);
    const signal = signalOf(options);
    const established = this.isService || this.#established.has(peer);
    if (!established || this.#outboxes.has(peer) || !this.sendTo(message, peer)) {
      await new Promise<true>((resolve, reject) => {
        this.#enqueue(peer, message, established, { resolve, reject, signal });
      });
      this.#established.add(peer);
    }
    if (++this.#passed >= MESSAGES_PER_TURN) await this.#othersTurn();
  }

  /**
   * The next message. A service accepts clients while it waits here.
   *
   * @throws DocaError CONNECTION_RESET with `peer` if one is gone; NOT_CONNECTED when the endpoint is closed;
   * `signal.reason`.
   */
  async receive(options?: WaitOptions): Promise<Received> {
    const signal = signalOf(options);
    const receives = this.#channels().receives;
    const found = receives.waiting ? undefined : this.recvFrom();
    if (found !== undefined) {
      if (++this.#passed >= MESSAGES_PER_TURN) await this.#othersTurn();
      return found;
    }
    return new Promise((resolve, reject) => {
      this.#wait(receives, () => this.recvFrom(), { resolve, reject, signal });
    });
  }

  /**
   * Messages until the endpoint is closed, or the client disconnects. A service goes on when a client is gone: it
   * disconnects it and emits 'lost'. A client whose service is gone gets CONNECTION_RESET.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Received, void, undefined> {
    const peer = this.onlyPeer;
    for (;;) {
      try {
        yield await this.receive();
      } catch (error) {
        if (this.closed || (peer !== undefined && this.onlyPeer !== peer)) return;
        const lost = lostPeer(error);
        if (lost === undefined || !this.isService) throw error;
        this.disconnect(lost);
        this.emit('lost', lost);
      }
    }
  }

  /** Resolves when everything that was sent to the peer is acknowledged: before a disconnect, for instance. */
  async drained(peer: PeerAddr | undefined = this.onlyPeer, options?: WaitOptions): Promise<void> {
    if (peer !== undefined && !(peer instanceof PeerAddr)) throw typeError('peer', 'a PeerAddr of this endpoint', peer);
    for (let pause = 0; peer !== undefined; pause = Math.min(pause + 1, 10)) {
      const signal = signalOf(options);
      const state = peer.updateInfo();
      if (state === 'aborted')
        throw new DocaError(DocaStatus.CONNECTION_RESET, 'doca_comm_channel_peer_addr_update_info');
      if (!this.#outboxes.has(peer) && peer.counters().sendInFlightMessages === 0n) return;
      await pauseFor(pause, signal);
    }
  }

  override disconnect(peer: PeerAddr): void {
    super.disconnect(peer);
    const error = new DocaError(DocaStatus.NOT_CONNECTED, 'doca_comm_channel_ep_sendto', 'the peer was disconnected');
    this.#outboxes.get(peer)?.fail(error);
    // A client has no other peer to wait for.
    if (!this.isService) this.#receives?.retry();
  }

  protected override onClose(): void {
    this.#sends?.close();
    this.#receives?.close();
    const error = new DocaError(DocaStatus.NOT_CONNECTED, 'doca_comm_channel_ep_destroy', 'the endpoint was closed');
    for (const waiting of [...this.#waiting, ...this.#outboxes.values()]) waiting.fail(error);
  }

  #channels(): { sends: EventChannel; receives: EventChannel } {
    const handle = this.use('get_event_channel');
    this.#sends ??= new EventChannel(handle, Channel.SEND);
    this.#receives ??= new EventChannel(handle, Channel.RECV);
    return { sends: this.#sends, receives: this.#receives };
  }

  #othersTurn(): Promise<void> {
    this.#passed = 0;
    return pauseFor(0, undefined);
  }

  #enqueue(peer: PeerAddr, message: Uint8Array, established: boolean, settler: Settler<true>): void {
    const send = () => this.sendTo(message, peer) || undefined;
    const outbox = this.#outboxes.get(peer);
    if (outbox !== undefined) {
      outbox.add(send, settler);
      return;
    }
    const made = new Outbox(this.#channels().sends, () => this.#outboxes.delete(peer));
    this.#outboxes.set(peer, made);
    made.add(send, settler);
    made.start(established ? undefined : peer);
  }

  #wait<T>(channel: EventChannel, attempt: () => T | undefined, settler: Settler<T>): void {
    const waiting = waitingFor(attempt, settler, () => {
      this.#waiting.delete(waiting);
      channel.leave(waiting.attempt);
    });
    this.#waiting.add(waiting);
    try {
      channel.wait(waiting.attempt);
    } catch (error) {
      waiting.fail(error);
    }
  }
}

/** The peer of a CONNECTION_RESET. */
function lostPeer(error: unknown): PeerAddr | undefined {
  if (!(error instanceof DocaError) || error.status !== DocaStatus.CONNECTION_RESET) return undefined;
  return (error as { peer?: PeerAddr }).peer;
}
