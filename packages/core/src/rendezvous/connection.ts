import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';
import { excused } from '../base/handled.js';
import { kEnd, kNotified } from '../base/symbols.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import type { WorkCompletion } from '../completion/work-completion.js';
import type { ProtectionDomain } from '../device/protection-domain.js';
import { QpType, WrOpcode } from '../enums/index.js';
import type { MessageData } from '../messages/message.js';
import { type Receiver, receiver, type ReceiverOptions } from '../messages/receiver.js';
import { SendBuffers } from '../messages/send-buffers.js';
import type { QpCap } from '../qp/qp-init-attr.js';
import type { QpEndpoint } from '../qp/endpoint.js';
import type { QueuePair } from '../qp/queue-pair.js';
import type { Lines } from './lines.js';
import type { CheckedOptions } from './options.js';

const DEFAULT_SIZE = 4096;
/**
 * 0.54 s, eight times: a peer may get no processor for seconds on a busy machine. That it is gone the TCP connection tells
 * at once.
 */
const ACK_TIMEOUT = 17;

/**
 * A connected queue pair of RC, and the TCP connection that tells when the peer is gone. Created by {@link dial} and by
 * {@link Request.accept}.
 *
 * @example
 * await using connection = await dial({ port: 18515, receive: {} });
 * await connection.send('hello');
 * console.log((await connection.messages.next())?.text());
 */
export class Connection implements AsyncDisposable {
  /** The queue pair, in RTS. */
  readonly qp: QueuePair<typeof QpType.RC>;
  /** Its protection domain. */
  readonly pd: ProtectionDomain;
  /** Its completion queue, for both directions. */
  readonly cq: CompletionQueue;
  /** What the peer gave as its `privateData`; undefined for nothing. */
  privateData: unknown = undefined;
  /** Resolves when the peer has closed the connection, or is gone, and after `close()`. */
  readonly disconnected: Promise<void>;
  readonly #lines: Lines;
  readonly #messages: Receiver | undefined;
  readonly #buffers: SendBuffers;
  readonly #release: () => void;
  #closed = false;

  /** @internal Makes the queue pair, in INIT. `release` is called when it is closed. */
  constructor(pd: ProtectionDomain, lines: Lines, options: CheckedOptions, release: () => void) {
    const cap = options.cap as Partial<QpCap>;
    const { portNum, access, receive, prepare } = options;
    const cq = pd.context.createCq(Math.max(1, (cap.maxSendWr ?? 0) + (cap.maxRecvWr ?? 0)));
    this.pd = pd;
    this.cq = cq;
    this.#lines = lines;
    this.#release = release;
    try {
      this.qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: cap as QpCap });
      this.qp.init({ ...(portNum === undefined ? {} : { portNum }), ...(access === undefined ? {} : { access }) });
      this.#messages = receive === undefined ? undefined : receiver(this.qp, receive as ReceiverOptions);
      prepare?.(this.qp);
    } catch (error) {
      cq.close();
      throw error;
    }
    const size = this.#messages?.size ?? DEFAULT_SIZE;
    this.#buffers = new SendBuffers(pd, Math.max(1, Math.min(16, this.qp.cap.maxSendWr)), size);
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
   * @throws RangeError for data that is longer than `receive.size` (default 4096)
   * @throws CompletionError, VerbsError as {@link QueuePair.send}
   * @example
   * const connection = await dial({ port: 18515 });
   * await connection.send(JSON.stringify({ get: 'colour' }));
   */
  send(data: MessageData): Promise<WorkCompletion> {
    return excused(this.#buffers.use(data, (sge) => this.qp.send({ opcode: WrOpcode.SEND, sgList: [sge] })));
  }

  /** True after `close()`, and when the peer is gone. */
  get closed(): boolean {
    return this.#closed || this.qp.closed;
  }

  /** Closes the queue pair, what was made for it, and the TCP connection. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.qp.close();
    this.#messages?.close();
    this.#buffers.close();
    this.cq.close();
    this.#lines.close();
    this.#release();
  }

  /** `await using` closes the connection at the end of its block. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.disconnected;
  }

  /** @internal What the peer needs to connect. */
  endpoint({ portNum, sgidIndex }: CheckedOptions): QpEndpoint {
    return this.qp.endpoint({ portNum, sgidIndex });
  }

  /** @internal Brings the queue pair to RTS. */
  connect(peer: unknown, { access }: CheckedOptions): void {
    this.qp.connect(peer as QpEndpoint, { timeout: ACK_TIMEOUT, ...(access === undefined ? {} : { access }) });
  }

  #peerGone(): void {
    if (this.closed) return;
    // The last messages of the peer came in before its TCP connection ended.
    this.cq[kNotified]();
    setImmediate(() => {
      this.#messages?.[kEnd]();
    });
  }
}
