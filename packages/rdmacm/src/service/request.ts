import { type Context, type QpType, type QueuePair, VerbsError } from '@verbs/core';
import { closedError, errno, fields, handleOf, u24, unchecked, validate } from '@verbs/core/provider';
import type { CmEvent } from '../cm/cm-event.js';
import type { CmId } from '../cm/cm-id.js';
import { type ConnParam, paramFields, type FullConnParam, privateData } from '../cm/conn-param.js';
import type { FullSocketAddress } from '../cm/socket-address.js';
import { Connection, type ConnectedQueuePair } from './connection.js';
import { Deadline, deadlineFields, type DeadlineOptions } from './deadline.js';
import type { Inbox } from './inbox.js';
import { closeAll, type MadeQueuePair, makeQueuePair, type QpSource } from './qp-options.js';

/** What requests of connections and of lookups have in common. */
export abstract class Request implements Disposable {
  /** The identifier, for the calls of the C library. */
  readonly id: CmId;
  /** What the peer sent, filled with zeros up to the room of the message. */
  readonly privateData: Uint8Array;
  /** This side. */
  readonly localAddress: FullSocketAddress | undefined;
  /** The peer. */
  readonly remoteAddress: FullSocketAddress | undefined;

  /** @internal */
  constructor(id: CmId, data: Uint8Array | undefined) {
    this.id = id;
    this.privateData = data ?? new Uint8Array();
    this.localAddress = id.localAddr;
    this.remoteAddress = id.peerAddr;
  }

  /** The open device that it came over. */
  get context(): Context | undefined {
    return this.id.verbs;
  }

  /**
   * `rdma_reject`: the peer gets an error REJECTED with these bytes.
   *
   * @param options `privateData`: at most 148 bytes, of a lookup 136
   * @throws VerbsError EINVAL (it was accepted or rejected, the peer gave up, or too much private data)
   * @example request.reject({ privateData: 'busy' });
   */
  reject(options: { privateData?: Uint8Array | string } = {}): void {
    const given = validate.object(options, 'options', ['privateData']);
    this.id.reject(privateData(given['privateData'], 'options.privateData'));
    this.close();
  }

  /** Forgets it: the peer is rejected, unless there was an answer. */
  close(): void {
    this.id.close();
  }

  /** As `close()`. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** The options of {@link ConnectionRequest.accept}. */
export interface AcceptOptions extends Omit<ConnParam, 'srq' | 'qpNum' | 'retryCount'>, DeadlineOptions {
  /** How the queue pair is made, unless {@link ConnectionRequest.createQp} has made it. */
  qp?: QpSource;
}

const acceptOptions = fields({ ...paramFields, ...deadlineFields, qp: unchecked });

/** A peer that wants to connect. */
export class ConnectionRequest extends Request {
  /** The peer's parameters. */
  readonly param: FullConnParam | undefined;
  readonly #inbox: Inbox;
  #made: MadeQueuePair<typeof QpType.RC> | undefined;
  #accepted = false;
  /** The connection has the identifier and the queue pair. */
  #stands = false;

  /** @internal */
  constructor(inbox: Inbox, { conn }: CmEvent) {
    super(inbox.id, conn?.privateData);
    this.param = conn;
    this.#inbox = inbox;
  }

  /**
   * Makes the queue pair before the answer: it can take receive requests at once, so that they are there before the peer
   * sends. `accept` makes it otherwise.
   *
   * @throws VerbsError as {@link CmId.createQp}; EINVAL (the request was accepted)
   * @example
   * const qp = request.createQp({ pd, cq });
   * qp.postRecv({ sgList: [{ mr }] });
   * const connection = await request.accept();
   */
  createQp(options?: QpSource): ConnectedQueuePair {
    this.#checkOpen('rdma_create_qp');
    const made = makeQueuePair<typeof QpType.RC>(this.id, options, 'options');
    // What was made for one that the program has closed is closed with the request or the connection all the same.
    this.#made = { ...made, own: [...(this.#made?.own ?? []), ...made.own] };
    return made.qp;
  }

  /**
   * `rdma_accept`: resolves when the connection stands. Closing the request does nothing then.
   *
   * @throws VerbsError EINVAL (it was accepted before; that call goes on)
   * @throws ConnectionError TIMEDOUT, or how the connection failed; VerbsError; the signal's reason. The request is closed
   *   then
   * @example const connection = await request.accept({ privateData: 'welcome' });
   */
  async accept(options: AcceptOptions = {}): Promise<Connection> {
    const syscall = 'rdma_accept';
    const { qp, signal, timeout, ...param } = acceptOptions(options, 'options');
    this.#checkOpen(syscall);
    const detail = this.#peer;
    this.#accepted = true;
    try {
      using deadline = new Deadline({ signal, timeout } as DeadlineOptions, syscall, detail);
      this.#made ??= makeQueuePair<typeof QpType.RC>(this.id, qp as QpSource | undefined, 'options.qp');
      if (this.#made.qp.closed) throw closedError('QueuePair of createQp()', syscall);
      this.id.accept({ ...param, srq: this.#made.qp.srq !== undefined, qpNum: this.#made.qp.qpNum });
      await this.#inbox.expect('ESTABLISHED', { signal: deadline.signal, syscall, detail });
      const connection = new Connection(this.#inbox, this.#made, this.param);
      this.#stands = true;
      return connection;
    } catch (error) {
      this.close();
      // No connection comes of it: what the request is now is closed.
      this.#accepted = false;
      throw error;
    }
  }

  get #peer(): string {
    const { address = '', port = 0 } = this.remoteAddress ?? {};
    return `from ${address} port ${port}`;
  }

  /** An accepted request is the connection's. */
  #checkOpen(syscall: string): void {
    if (this.#accepted) {
      const hint = 'it was accepted before: the connection comes from that call';
      throw new VerbsError(errno.EINVAL, syscall, { detail: this.#peer, hint });
    }
    if (this.id.closed) throw closedError('ConnectionRequest', syscall);
  }

  override close(): void {
    if (this.#stands) return;
    super.close();
    closeAll(this.#made?.own.splice(0) ?? []);
  }
}

/** The options of {@link LookupRequest.accept}. */
export interface LookupAnswer {
  /** The service's queue pair; or else `qpNum`. */
  qp?: QueuePair;
  /** Its number, 24 bits. */
  qpNum?: number;
  /** At most 136 bytes, or text. */
  privateData?: Uint8Array | string;
}

const lookupAnswer = fields({ qp: unchecked, qpNum: unchecked, privateData });

/** A peer that looks for a datagram service. */
export class LookupRequest extends Request {
  /** @internal */
  constructor(inbox: Inbox, { ud, conn }: CmEvent) {
    super(inbox.id, (ud ?? conn)?.privateData);
  }

  /**
   * `rdma_accept`: tells the peer the queue pair of the service. Its Q_Key is {@link UDP_QKEY}.
   *
   * @throws VerbsError EINVAL (it was answered, or too much private data)
   * @example request.accept({ qp });
   */
  accept(options: LookupAnswer): void {
    const given = lookupAnswer(options, 'options');
    const qpNum =
      given.qp === undefined
        ? u24()(given.qpNum, 'options.qpNum')
        : (handleOf(given.qp, 'QueuePair', 'options.qp', 'rdma_accept'), (given.qp as QueuePair).qpNum);
    this.id.accept({ ...(given.privateData && { privateData: given.privateData }), qpNum });
  }
}
