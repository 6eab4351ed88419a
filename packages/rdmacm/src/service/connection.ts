import { EventEmitter } from 'node:events';
import { inspect, type InspectOptions } from 'node:util';
import type { Context, ProtectionDomain, QpType, QueuePair } from '@verbs/core';
import { fields, inspection } from '@verbs/core/provider';
import { kEvents } from '../base/symbols.js';
import type { CmEvent } from '../cm/cm-event.js';
import type { CmId } from '../cm/cm-id.js';
import type { FullConnParam } from '../cm/conn-param.js';
import type { FullSocketAddress } from '../cm/socket-address.js';
import { Deadline, deadlineFields, type DeadlineOptions } from './deadline.js';
import type { Inbox } from './inbox.js';
import { closeAll, type MadeQueuePair } from './qp-options.js';

const checkDeadline = fields(deadlineFields);

/** A queue pair of a connection. */
export type ConnectedQueuePair = QueuePair<typeof QpType.RC>;

/** The events of a {@link Connection}. */
export interface ConnectionEvents {
  /** The connection ended, whichever side disconnected. Not after `close()`. */
  disconnected: [];
}

/**
 * A connection: a queue pair in RTS on each side. `close()` ends it at once and closes what was made for it;
 * `await using` disconnects first. As long as it has a listener for 'disconnected' the process stays alive.
 *
 * When the peer disconnects, the queue pair goes to ERR by itself: outstanding requests complete with WR_FLUSH_ERR.
 */
export class Connection extends EventEmitter<ConnectionEvents> implements Disposable, AsyncDisposable {
  /** The identifier, for the calls of the C library. */
  readonly id: CmId;
  /** In RTS. */
  readonly qp: ConnectedQueuePair;
  /** The queue pair's: memory is registered in it. */
  readonly pd: ProtectionDomain;
  /** What the peer sent, filled with zeros up to the room of the message. */
  readonly privateData: Uint8Array;
  /** The peer's parameters. */
  readonly param: FullConnParam | undefined;
  /** This side. */
  readonly localAddress: FullSocketAddress | undefined;
  /** The peer. */
  readonly remoteAddress: FullSocketAddress | undefined;
  readonly #inbox: Inbox;
  readonly #own: MadeQueuePair['own'];
  #connected = true;
  /** Nobody can listen yet. */
  #isNew = true;

  /** @internal */
  constructor(inbox: Inbox, made: MadeQueuePair<typeof QpType.RC>, param: FullConnParam | undefined) {
    super();
    const { id } = inbox;
    this.id = id;
    this.qp = made.qp;
    this.pd = made.pd;
    this.#own = made.own;
    this.#inbox = inbox;
    this.param = param;
    this.privateData = param?.privateData ?? new Uint8Array();
    this.localAddress = id.localAddr;
    this.remoteAddress = id.peerAddr;
    this.#followListeners();
    inbox.deliver(
      (event) => {
        this.#onEvent(event);
      },
      () => {
        this.#connected = false;
        this.#rest();
      },
    );
    this.#isNew = false;
  }

  /** The open device that it goes over. */
  get context(): Context {
    return this.pd.context;
  }

  /** False once one of the sides has disconnected, and after `close()`. */
  get connected(): boolean {
    return this.#connected;
  }

  /** True after `close()`. */
  get closed(): boolean {
    return this.id.closed;
  }

  /**
   * `rdma_disconnect`: ends the connection on both sides. It resolves when the peer has confirmed that, or does not answer
   * any more. A second time does nothing.
   *
   * @throws ConnectionError TIMEDOUT; the signal's reason
   * @example await connection.disconnect();
   */
  async disconnect(options: DeadlineOptions = {}): Promise<void> {
    const given = checkDeadline(options, 'options');
    if (!this.#connected) return;
    // Before the call: with a signal that is aborted already the connection stays.
    using deadline = this.#deadline(given);
    this.id.disconnect();
    await this.#until(deadline);
  }

  /**
   * Resolves when one of the sides has disconnected. It keeps the process alive until then.
   *
   * @throws ConnectionError TIMEDOUT; the signal's reason
   * @example await connection.whenDisconnected();
   */
  async whenDisconnected(options: DeadlineOptions = {}): Promise<void> {
    using deadline = this.#deadline(checkDeadline(options, 'options'));
    await this.#until(deadline);
  }

  /** Ends the connection at once: the queue pair, the identifier, and what was made for them. Twice does nothing. */
  close(): void {
    if (!this.id.closed) this.id.close();
    closeAll(this.#own.splice(0));
  }

  /** As `close()`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** `await using` disconnects and closes at the end of its block. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.disconnect();
    } finally {
      this.close();
    }
  }

  async #until({ signal }: Deadline): Promise<void> {
    while (this.#connected) await this.#inbox.sleep(signal);
  }

  #deadline(options: DeadlineOptions): Deadline {
    const { address, port } = this.remoteAddress ?? {};
    return new Deadline(options, 'rdma_disconnect', address === undefined ? '' : `of ${address} port ${port}`);
  }

  #onEvent({ name }: CmEvent): void {
    if (!this.#connected || (name !== 'DISCONNECTED' && name !== 'DEVICE_REMOVAL')) return;
    this.#connected = false;
    try {
      // Confirms the peer's end, and brings the queue pair to ERR.
      this.id.disconnect();
    } catch {
      // This side began it.
    }
    this.#rest();
    if (!this.#isNew) {
      this.emit('disconnected');
      return;
    }
    // When the program has the connection.
    process.nextTick(() => {
      if (!this.closed) this.emit('disconnected');
    });
  }

  /** A listener keeps the connection and the process. */
  #followListeners(): void {
    const plain = this as EventEmitter;
    plain.on('newListener', (name: string | symbol) => {
      if (name === 'disconnected' && this.#connected) this.id.channel[kEvents].enter(this);
    });
    plain.on('removeListener', (name: string | symbol) => {
      if (name === 'disconnected' && this.listenerCount('disconnected') === 0) this.#rest();
    });
  }

  #rest(): void {
    this.id.channel[kEvents].leave(this);
  }

  /** The connection's ends, for `util.inspect` and `console.log`. */
  [inspect.custom](depth: number, options: InspectOptions = {}): string {
    const { connected, localAddress, remoteAddress } = this;
    const name = `Connection${this.closed ? ' (closed)' : ''}`;
    const shown = { connected, localAddress, remoteAddress, qp: inspection.brief(this.qp) };
    return depth < 0 ? `[${name}]` : `${name} ${inspect(shown, { ...options, depth: options.depth ?? 1 })}`;
  }
}
