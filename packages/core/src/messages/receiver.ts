import { constants } from 'node:buffer';
import { onAbort } from '../base/abort.js';
import { errno } from '../base/errno.js';
import { closedError, VerbsError } from '../base/errors.js';
import { fields, maybe, or, range, u32 } from '../base/fields.js';
import { excused, handled } from '../base/handled.js';
import { kAwait, kEnd, kGiveUp, kInherit } from '../base/symbols.js';
import { rangeError, typeError } from '../base/validate.js';
import { signalOf, type WaitOptions } from '../base/wait-options.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import type { WorkCompletion } from '../completion/work-completion.js';
import type { ProtectionDomain } from '../device/protection-domain.js';
import { AccessFlags, QpAttrMask, QpType, WcOpcode, WrOpcode } from '../enums/index.js';
import { kindOf } from '../lifetime/resource.js';
import type { MemoryRegion } from '../memory/memory-region.js';
import { ReceiveElements } from '../posting/receive-elements.js';
import type { QueuePair } from '../qp/queue-pair.js';
import type { SendRequest, SendWithImmRequest } from '../types/work-request.js';
import { Message, type MessageData, type ReplyOptions } from './message.js';
import { SendBuffers } from './send-buffers.js';
import { Senders } from './senders.js';

/** The options of {@link receiver}. */
export interface ReceiverOptions {
  /** How many messages may wait for the program: at most `cap.maxRecvWr`, and `cqe` of `recvCq`; default 16, or as many as can be. */
  slots?: number;
  /** The longest message in bytes, 1 to 2^30, default 4096. */
  size?: number;
}

/** The bytes in front of a datagram. */
const GRH_BYTES = 40;

/** The check of the options. */
export const receiverOptions = fields({ slots: maybe(range(1, 0xffffff)), size: or(range(1, 2 ** 30), 4096) });
const replyOptions = fields({ immData: maybe(u32()), remoteQkey: maybe(u32()) });

/**
 * Receives the messages of a queue pair into memory of its own: it registers the memory, posts a receive request for
 * each slot, and posts it again when the program takes the message. A program that is slow so slows its peer (RC), or
 * loses datagrams (UD), but never a message that arrived.
 *
 * The messages that are there are given out before an error. The iteration ends with `close()` of the receiver or the
 * queue pair. An open receiver keeps the process alive, as an open server does.
 *
 * @param qp in INIT or later, with a receive queue of its own and a `recvCq` that has a channel. While the receiver is
 *   open, all messages of the queue pair are its
 * @throws TypeError, RangeError for an option, by its name
 * @throws VerbsError EINVAL (a queue pair in RESET, or with a shared receive queue), ENOMEM
 * @example
 * for await (const message of receiver(qp, { slots: 64, size: 1024 })) {
 *   console.log(message.text());
 *   await message.reply('thanks');
 * }
 */
export function receiver(qp: QueuePair, options: ReceiverOptions = {}): Receiver {
  return new Receiver(qp, options);
}

interface Slot {
  offset: number;
  sgList: { mr: MemoryRegion; offset: number; length: number }[];
  elements: ReceiveElements;
}

/** The messages of a queue pair, created by {@link receiver}. */
export class Receiver implements AsyncIterable<Message>, Disposable {
  /** Where the messages come from. */
  readonly qp: QueuePair;
  /** How many messages may wait for the program. */
  readonly slots: number;
  /** The longest message in bytes. */
  readonly size: number;
  readonly #cq: CompletionQueue;
  readonly #mr: MemoryRegion;
  readonly #slots: Slot[];
  readonly #buffers: SendBuffers;
  readonly #headerBytes: number;
  readonly #pd: ProtectionDomain;
  #datagrams: { senders: Senders; qkey: number } | undefined;
  /** Messages that have arrived, oldest first. */
  readonly #arrived: { slot: Slot; wc: WorkCompletion }[] = [];
  /** Those who wait for a message, first come first served. */
  readonly #waiting = new Set<() => void>();
  #failure: { error: unknown } | undefined;
  #closed = false;

  /** @internal */
  constructor(qp: QueuePair, options: ReceiverOptions) {
    const { pd, cq } = partsOf(qp);
    const { slots = Math.min(16, qp.cap.maxRecvWr, cq.cqe), size } = receiverOptions(options, 'options');
    if (slots > qp.cap.maxRecvWr)
      throw rangeError('options.slots', `at most cap.maxRecvWr, ${qp.cap.maxRecvWr}`, slots);
    if (slots > cq.cqe)
      throw rangeError('options.slots', `at most ${cq.cqe}, the entries of the completion queue`, slots);
    this.qp = qp;
    this.slots = slots;
    this.size = size;
    this.#cq = cq;
    this.#pd = pd;
    this.#headerBytes = qp.qpType === QpType.UD ? GRH_BYTES : 0;
    const bytes = size + this.#headerBytes;
    const most = Math.floor(constants.MAX_LENGTH / slots) - this.#headerBytes;
    if (size > most) throw rangeError('options.size', `at most ${most} with ${slots} slots`, size);
    this.#mr = pd.allocMr(slots * bytes, AccessFlags.LOCAL_WRITE);
    this.#buffers = new SendBuffers(pd, Math.max(1, Math.min(slots, qp.cap.maxSendWr)), size, {
      owner: 'Receiver',
      limit: "the size of the receiver's buffers",
    });
    this.#slots = Array.from({ length: slots }, (_, i) => {
      const offset = i * bytes;
      const sgList = [{ mr: this.#mr, offset, length: bytes }];
      return { offset, sgList, elements: new ReceiveElements({ sgList }) };
    });
    let posted = 0;
    try {
      for (const slot of this.#slots) {
        this.#await(slot);
        posted++;
      }
    } catch (error) {
      if (posted === 0) this.#mr.close();
      this.close();
      throw error;
    }
  }

  /** True after `close()` of the receiver, or of its queue pair. */
  get closed(): boolean {
    return this.#closed || this.qp.closed;
  }

  /**
   * The next message; undefined if the receiver is closed.
   *
   * @param options `signal` ends the waiting. No message is lost by that
   * @throws CompletionError if the queue pair failed, after the messages that had arrived
   * @example const message = await receiver(qp).next({ signal: AbortSignal.timeout(1000) });
   */
  next(options?: WaitOptions): Promise<Message | undefined> {
    // A program may call it before it sends what the message answers.
    return handled(this.#next(options));
  }

  async #next(options: WaitOptions | undefined): Promise<Message | undefined> {
    const signal = signalOf(options);
    for (;;) {
      signal?.throwIfAborted();
      const first = this.#arrived.shift();
      if (first !== undefined) return this.#message(first.slot, first.wc);
      if (this.closed) {
        // What had completed when the queue pair was closed is told in the next turn of the promises.
        await Promise.resolve();
        const last = this.#arrived.shift();
        return last === undefined ? undefined : this.#message(last.slot, last.wc);
      }
      if (this.#failure !== undefined) throw this.#failure.error;
      await this.#wake(signal);
    }
  }

  /** All messages as they arrive, until the receiver is closed. `break` leaves it open. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Message, void, undefined> {
    for (let message = await this.next(); message !== undefined; message = await this.next()) yield message;
  }

  /**
   * Ends the receiving, and every iteration. Messages that were not taken are dropped. The device keeps the posted
   * requests until the queue pair is closed: a later receiver, or `qp.recv`, gets their messages.
   */
  close(): void {
    this.#arrived.length = 0;
    this[kEnd]();
  }

  /** @internal No further message comes; those that have arrived are given out. */
  [kEnd](): void {
    if (this.#closed) return;
    this.#closed = true;
    const reason = closedError('Receiver', 'ibv_post_recv');
    for (const { elements } of this.#slots) this.#cq[kGiveUp](elements.id, reason);
    this.#buffers.close();
    this.#datagrams?.senders.close();
    // The memory of a queue pair that is open is still the device's.
    if (this.qp.closed) this.#mr.close();
    else if (!this.#mr.closed) this.qp[kInherit](this.#mr);
    this.#wakeAll();
  }

  /** `using` closes the receiver at the end of its block. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** Posts the request of a slot and awaits its message. */
  #await(slot: Slot): void {
    const { qp } = this;
    const { sgList, elements } = slot;
    const request = { qp, wrId: 0, elements };
    const message = this.#cq[kAwait](request, (wrId) => {
      qp.postRecv({ wrId, sgList });
    });
    message.then(
      (wc) => {
        this.#arrived.push({ slot, wc });
        this.#wakeAll();
      },
      (error: unknown) => {
        this.#failure ??= { error };
        this.#wakeAll();
      },
    );
  }

  /** Takes the message out of its slot, and posts the slot again. */
  #message(slot: Slot, wc: WorkCompletion): Message {
    const length = wc.opcode === WcOpcode.RECV ? Math.max(wc.byteLen, this.#headerBytes) : 0;
    const bytes = this.#mr.bytes.slice(slot.offset, slot.offset + length);
    const grh = bytes.subarray(0, this.#headerBytes);
    if (this.#failure === undefined && !this.closed) {
      try {
        this.#await(slot);
      } catch (error) {
        this.#failure = { error };
      }
    }
    const reply = (data: MessageData, options: ReplyOptions) => this.#reply(wc, grh, data, options);
    return new Message(bytes.subarray(this.#headerBytes), wc, reply);
  }

  #reply(wc: WorkCompletion, grh: Uint8Array, data: MessageData, options: ReplyOptions): Promise<WorkCompletion> {
    const { qp } = this;
    const sent = this.#buffers.use(data, (sge) => {
      const { immData, remoteQkey } = replyOptions(options, 'options');
      const sgList = [sge];
      const wr: SendRequest | SendWithImmRequest =
        immData === undefined ? { opcode: WrOpcode.SEND, sgList } : { opcode: WrOpcode.SEND_WITH_IMM, immData, sgList };
      if (qp.qpType !== QpType.UD) return qp.send(wr);
      const { senders, qkey } = (this.#datagrams ??= datagramsOf(qp, this.#pd));
      return senders.use(wc, grh, (ah) => qp.send({ ...wr, ah, remoteQpn: wc.srcQp, remoteQkey: remoteQkey ?? qkey }));
    });
    return excused(sent);
  }

  #wake(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const aborted = () => {
        this.#waiting.delete(wake);
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- an AbortSignal's reason may be anything
        reject(signal?.reason);
      };
      const wake = () => {
        ended?.();
        resolve();
      };
      this.#waiting.add(wake);
      const ended = signal && onAbort(signal, aborted);
    });
  }

  #wakeAll(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

/** What a receiver needs of its queue pair. */
function partsOf(qp: unknown): { pd: ProtectionDomain; cq: CompletionQueue } {
  if (kindOf(qp) !== 'QueuePair') throw typeError('qp', 'a QueuePair', qp);
  const { pd, recvCq: cq, srq } = qp as QueuePair;
  if (pd !== undefined && cq !== undefined && srq === undefined) return { pd, cq };
  throw new VerbsError(errno.EINVAL, 'ibv_post_recv', {
    hint: 'a receiver needs a queue pair with a receive queue of its own: one without srq and XRC',
  });
}

function datagramsOf(qp: QueuePair, pd: ProtectionDomain): { senders: Senders; qkey: number } {
  const { portNum, qkey } = qp.query(QpAttrMask.PORT | QpAttrMask.QKEY).attr;
  return { senders: new Senders(pd, portNum), qkey };
}
