import { onAbort } from '../base/abort.js';
import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';
import { fields, maybe, range } from '../base/fields.js';
import { gidBytes, gidText } from '../base/gid.js';
import { excused } from '../base/handled.js';
import { kEnd, kNotified } from '../base/symbols.js';
import { abortSignal, type WaitOptions } from '../base/wait-options.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import type { WorkCompletion } from '../completion/work-completion.js';
import type { ProtectionDomain } from '../device/protection-domain.js';
import { GidType, LinkLayer, QpType, WrOpcode } from '../enums/index.js';
import type { MessageData } from '../messages/message.js';
import { type Receiver, receiver } from '../messages/receiver.js';
import { SendBuffers } from '../messages/send-buffers.js';
import type { QpEndpoint } from '../qp/endpoint.js';
import type { QueuePair } from '../qp/queue-pair.js';
import type { Lines } from './lines.js';
import type { CheckedOptions } from './options.js';

const DEFAULT_SIZE = 4096;
/** Of buffers that the peer asks for. */
const LARGEST_SIZE = 65_536;
/**
 * 0.54 s, eight times: a peer may get no processor for seconds on a busy machine. That it is gone the TCP connection tells
 * at once.
 */
const ACK_TIMEOUT = 17;

/** The options of {@link Connection.send}. */
export interface SendOptions extends WaitOptions {
  /** Milliseconds, 1 to 2147483647; default: as long as the connection stands. */
  timeout?: number;
}

const sendOptions = fields({ timeout: maybe(range(1, 0x7fffffff)), signal: maybe(abortSignal) });
type CheckedSend = ReturnType<typeof sendOptions>;
const peerBuffers = fields({ slots: range(1, 0xffffff), size: range(1, 2 ** 30) });

/**
 * A connected queue pair of RC, and the TCP connection that tells when the peer is gone. Created by {@link dial} and by
 * {@link Request.accept}.
 *
 * @typeParam PrivateData what the program expects of the peer
 *
 * @example
 * await using connection = await dial({ port: 18515, receive: {} });
 * await connection.send('hello');
 * console.log((await connection.messages.next())?.text());
 */
export class Connection<PrivateData = unknown> implements AsyncDisposable {
  /** The queue pair, in RTS. */
  readonly qp: QueuePair<typeof QpType.RC>;
  /** Its protection domain. */
  readonly pd: ProtectionDomain;
  /** Its completion queue, for both directions. */
  readonly cq: CompletionQueue;
  /**
   * The buffers that the peer has for messages, by its option `receive`; undefined if it posts receive requests itself, or
   * none.
   */
  peerReceive:
    | {
        /** Their number. */
        readonly slots: number;
        /** Bytes of each. */
        readonly size: number;
      }
    | undefined = undefined;
  /** What the peer gave as its `privateData`; undefined for nothing. It comes from the peer: no type proves what it is. */
  privateData: PrivateData = undefined as PrivateData;
  /** Resolves when the peer has closed the connection, or is gone, and after `close()`. */
  readonly disconnected: Promise<void>;
  /** The ends of the TCP connection, as `node:net` has them; undefined when it was closed too early. */
  readonly localAddress: string | undefined;
  /** See `localAddress`. */
  readonly localPort: number | undefined;
  /** See `localAddress`. */
  readonly remoteAddress: string | undefined;
  /** See `localAddress`. */
  readonly remotePort: number | undefined;
  readonly #lines: Lines;
  readonly #messages: Receiver | undefined;
  /** The program had the option `prepare`, which is the place to post receive requests. */
  readonly #prepared: boolean;
  /** The peer has said that nobody posts receive requests there. */
  #peerDeaf = false;
  #buffers: SendBuffers | undefined;
  readonly #release: () => void;
  #closed = false;
  #gone = false;

  /** @internal Makes the queue pair, in INIT. `release` is called when it is closed. */
  constructor(pd: ProtectionDomain, lines: Lines, options: CheckedOptions, release: () => void) {
    const { cap, portNum, access, receive, prepare } = options;
    const cq = pd.context.createCq(Math.max(1, cap.maxSendWr + cap.maxRecvWr));
    this.pd = pd;
    this.cq = cq;
    this.#lines = lines;
    ({
      localAddress: this.localAddress,
      localPort: this.localPort,
      remoteAddress: this.remoteAddress,
      remotePort: this.remotePort,
    } = lines.ends);
    this.#release = release;
    try {
      this.qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
      this.qp.init({ ...(portNum === undefined ? {} : { portNum }), ...(access === undefined ? {} : { access }) });
      this.#messages = receive === undefined ? undefined : receiver(this.qp, receive);
      this.#prepared = prepare !== undefined;
      prepare?.(this.qp);
    } catch (error) {
      cq.close();
      this.#messages?.close();
      throw error;
    }
    this.disconnected = lines.ended.then(() => {
      this.#peerGone();
    });
  }

  /**
   * The messages of the peer, of a connection with the option `receive`. The iteration ends when the peer is gone.
   *
   * @throws VerbsError EINVAL without that option
   * @example
   * const connection = await dial({ port: 18515, receive: {} });
   * for await (const message of connection.messages) await message.reply(message.data);
   */
  get messages(): Receiver {
    if (this.#messages !== undefined) return this.#messages;
    throw new VerbsError(errno.EINVAL, 'ibv_post_recv', {
      hint: 'this connection has no buffers for messages: give the option receive, for instance `receive: {}`',
    });
  }

  /**
   * Sends a message, from a buffer of the connection, and waits until the peer has it. The data may change as soon as
   * this returns.
   *
   * @param options `signal` and `timeout` end the waiting, not the message: the peer may get it later. A program that sends it once
   *   more gives it a number, so that the peer knows one that it has already
   * @throws RangeError for data that is longer than `receive.size` of the peer (or, of a peer without that option, of this
   *   side; default 4096)
   * @throws VerbsError ETIMEDOUT; ENOBUFS at once for a peer with neither `receive` nor `prepare`, which would never take it (for one
   *   that posts receive requests by hand later, `connection.qp.send` waits); CompletionError and VerbsError as {@link QueuePair.send}
   * @example
   * const connection = await dial({ port: 18515 });
   * await connection.send(JSON.stringify({ get: 'colour' }), { timeout: 1000 });
   */
  send(data: MessageData, options: SendOptions = {}): Promise<WorkCompletion> {
    let waits: CheckedSend;
    try {
      waits = sendOptions(options, 'options');
    } catch (error) {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- it is that of the check
      return Promise.reject(error);
    }
    return excused(this.#send(data, waits), waits.signal);
  }

  async #send(data: MessageData, { timeout, signal }: CheckedSend): Promise<WorkCompletion> {
    signal?.throwIfAborted();
    if (this.#closed) {
      throw new VerbsError(errno.EBADF, 'ibv_post_send', {
        code: 'ERR_VERBS_CLOSED',
        text: 'the Connection is closed',
        hint: 'keep it open while it is used, or dial again',
      });
    }
    if (this.#peerDeaf) throw deaf();
    const sent = this.#sendBuffers().use(data, (sge) => this.qp.send({ opcode: WrOpcode.SEND, sgList: [sge] }));
    return signal === undefined && timeout === undefined ? sent : patient(sent, signal, timeout);
  }

  #sendBuffers(): SendBuffers {
    if (this.#buffers !== undefined) return this.#buffers;
    const own = this.#messages?.size ?? DEFAULT_SIZE;
    const theirs = this.peerReceive?.size;
    // What the peer says must not make this side allocate without bounds.
    const size = theirs === undefined ? own : Math.min(theirs, Math.max(own, LARGEST_SIZE));
    const limit =
      size === theirs ? 'the `receive.size` of the peer' : "the size of this side's buffers, `receive.size`";
    this.#buffers = new SendBuffers(this.pd, Math.max(1, Math.min(16, this.qp.cap.maxSendWr)), size, {
      owner: 'Connection',
      limit,
    });
    return this.#buffers;
  }

  /** True after `close()`, and when the peer is gone. */
  get closed(): boolean {
    return this.#closed || this.#gone || this.qp.closed;
  }

  /** The open connection keeps the process alive: the state of a new one. */
  ref(): void {
    this.#lines.ref(true);
  }

  /** The open connection does not keep the process alive; waits on its queue pair do. */
  unref(): void {
    this.#lines.ref(false);
  }

  /** Closes the queue pair, what was made for it, and the TCP connection. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.qp.close();
    this.#messages?.close();
    this.#buffers?.close();
    this.cq.close();
    this.#lines.close();
    this.#release();
  }

  /** `await using` closes the connection at the end of its block. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    // Otherwise nothing may be left that keeps the process alive, and what follows would not run.
    this.#lines.ref(true);
    await this.disconnected;
  }

  /** @internal The buffers for the peer's messages, as the peer learns them: null if nobody has posted any. */
  get receiving(): { slots: number; size: number } | null | undefined {
    if (this.#messages === undefined) return this.#prepared ? undefined : null;
    return { slots: this.#messages.slots, size: this.#messages.size };
  }

  /** @internal What the peer needs to connect. */
  endpoint({ portNum, sgidIndex }: CheckedOptions): QpEndpoint {
    return this.qp.endpoint({ portNum, sgidIndex: sgidIndex ?? this.#sgidIndex(portNum), peer: this.remoteAddress });
  }

  /** The entry of the address by which the peer is reached, if the device has it. */
  #sgidIndex(portNum = 1): number | undefined {
    const address = this.localAddress?.replace(/%.*/, '');
    if (address === undefined || this.pd.context.queryPort(portNum).linkLayer !== LinkLayer.ETHERNET) return undefined;
    const gid = gidText(gidBytes(address.includes(':') ? address : `::ffff:${address}`, 'localAddress'));
    const table = this.pd.context.gidTable(portNum);
    return table.find((entry) => entry.gid === gid && entry.type === GidType.ROCE_V2)?.index;
  }

  /** @internal Brings the queue pair to RTS, by what the peer said of itself and of its buffers. It is not trusted. */
  connect(peer: unknown, receive: unknown, { access }: CheckedOptions): void {
    try {
      this.qp.connect(peer as QpEndpoint, { timeout: ACK_TIMEOUT, ...(access === undefined ? {} : { access }) });
      if (receive === null) this.#peerDeaf = true;
      else if (receive !== undefined) this.peerReceive = buffersOf(receive);
    } catch (error) {
      // Of this side's options all are checked.
      throw error instanceof TypeError || error instanceof RangeError ? this.#lines.foreign() : error;
    }
  }

  #peerGone(): void {
    if (this.closed) return;
    this.#gone = true;
    // The last messages of the peer came in before its TCP connection ended.
    this.cq[kNotified]();
    setImmediate(() => {
      this.#messages?.[kEnd]();
    });
  }
}

/** Members that this version does not know are ignored, as those of an endpoint. */
function buffersOf(receive: unknown): { slots: number; size: number } {
  const { slots, size } = receive as Partial<Record<'slots' | 'size', unknown>>;
  return peerBuffers({ slots, size }, 'receive');
}

function deaf(): VerbsError {
  return new VerbsError(errno.ENOBUFS, 'ibv_post_send', {
    text: 'the peer takes no messages: its dial() or accept() has neither the option `receive` nor `prepare`',
    hint: 'give it `receive: {}`; for a peer that posts receive requests by hand later, connection.qp.send() waits',
  });
}

/** Waits for a message no longer than the program wants; its buffer stays in use until it is sent. */
function patient<T>(sent: Promise<T>, signal: AbortSignal | undefined, timeout: number | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => {
      const hint = 'does it post receive requests, for instance by its option `receive`?';
      const text = `the peer has not taken the message for ${timeout} ms`;
      end(() => {
        reject(new VerbsError(errno.ETIMEDOUT, 'ibv_post_send', { text, hint }));
      });
    };
    const timer = timeout === undefined ? undefined : setTimeout(late, timeout);
    const stop =
      signal &&
      onAbort(signal, () => {
        end(() => {
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- an AbortSignal's reason may be anything
          reject(signal.reason);
        });
      });
    const end = (act: () => void) => {
      clearTimeout(timer);
      stop?.();
      act();
    };
    sent.then(
      (value) => {
        end(() => {
          resolve(value);
        });
      },
      (error: unknown) => {
        end(() => {
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the same rejection
          reject(error);
        });
      },
    );
  });
}
