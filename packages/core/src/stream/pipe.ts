import { errno } from '../base/errno.js';
import { closedError, VerbsError } from '../base/errors.js';
import { kEvents, kServe } from '../base/symbols.js';
import { valueError } from '../base/validate.js';
import { CompletionBatch } from '../completion/completion-batch.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import { wcStatusText } from '../completion/work-completion.js';
import { AccessFlags, enumName, QpState, SendFlags, WcOpcode, WcStatus, WrOpcode } from '../enums/index.js';
import type { MemoryRegion } from '../memory/memory-region.js';
import { RecvBatch } from '../posting/recv-batch.js';
import type { QueuePair } from '../qp/queue-pair.js';
import { statusHint } from '../reasons/status-hint.js';
import type { Announcement } from './announcement.js';
import { SendRing, SENDS } from './send-ring.js';
import { uncaught } from '../base/handled.js';

// The protocol: every message is a SEND_WITH_IMM. The upper 8 bits of the immediate data are its kind, the lower 24 the number
// of receive requests that its sender has posted again since its last message: credits for the peer, which sends no more
// messages than it has credits. The last RESERVE credits are for messages without data, so that credits always come back.
const DATA = 0;
const CREDITS = 1;
const END = 2;
const CREDIT_BITS = 24;
const CREDIT_MASK = (1 << CREDIT_BITS) - 1;
const RESERVE = 2;

/** The slots behind those for data, of messages without: each is on its way once at a time. */
const EXTRA = { credits: 0, end: 1, probe: 2 };
const EXTRAS = 3;

const COMPLETIONS = 64;

/** Send requests that a pipe has outstanding at most. */
export const sendRequests = (slots: number) => sendSlots(slots) + EXTRAS;
const sendSlots = (slots: number) => Math.min(slots, 16);

/** Whom a pipe tells. */
export interface PipeEvents {
  /** Bytes, which belong to the callee. False asks for no more until `resume()`. */
  data(bytes: Buffer): boolean;
  /** The peer has a message of this side. */
  arrived(): void;
  /** The peer has ended its side: no byte follows. */
  end(): void;
  /** The pipe is broken. */
  failed(error: Error): void;
  /** The program has closed the queue pair, or a parent of it. */
  lost(): void;
}

interface Chunk {
  bytes: Uint8Array;
  /** Of the bytes, when they were written. */
  length: number;
  /** Undefined: more follows. */
  done: ((error?: Error) => void) | undefined;
}

interface Waiting {
  slot: number;
  length: number;
}

/**
 * Bytes in both directions over a connected RC queue pair: buffers, credits, and the end of either side. The completion
 * queues of the queue pair serve it alone.
 */
export class BytePipe {
  readonly #mine: Announcement;
  #qp: QueuePair | undefined;
  #memory: MemoryRegion | undefined;
  #receives: RecvBatch | undefined;
  /** Receive requests that are to be posted again: slots in a row. */
  readonly #vacant = { first: 0, count: 0 };
  #sending: SendRing | undefined;
  #events: PipeEvents | undefined;
  /** Messages that the peer has room for. */
  #credits = 0;
  /** Receive requests that were posted again, and that the peer does not know of. */
  #owed = 0;
  /** Messages that wait for the reader, oldest first. */
  readonly #arrived: Waiting[] = [];
  #reading = true;
  #peerEnded = false;
  /** `end()` was reported. */
  #ended = false;
  /** What waits for room, from `#first` on. */
  #chunks: Chunk[] = [];
  #first = 0;
  /** Bytes of the first chunk that are copied already. */
  #copiedOfFirst = 0;
  /** The open slot leaves at the end of this turn. */
  #leaving = false;
  /** Messages without data that are on their way. */
  readonly #extras = new Set<number>();
  #finish: (() => void) | undefined;
  #finished: 'no' | 'wanted' | 'sent' | 'acknowledged' = 'no';
  #broken = false;
  #quiet = false;
  #heard = false;
  #idle: (() => void) | undefined;

  constructor(mine: Announcement) {
    this.#mine = mine;
  }

  /** Posts the receive requests of a queue pair in INIT: before the peer can send. */
  prepare(qp: QueuePair): void {
    const { slots, size } = this.#mine;
    const { pd } = qp;
    if (pd === undefined)
      throw new VerbsError(errno.EINVAL, 'ibv_post_recv', { hint: 'a socket needs an RC queue pair' });
    if (this.#broken) throw closedError('Socket', 'ibv_post_recv');
    const memory = pd.allocMr(slots * size, AccessFlags.LOCAL_WRITE);
    this.#memory = memory;
    const receives = new RecvBatch(slots);
    for (let slot = 0; slot < slots; slot++) {
      receives.set(slot, { wrId: slot, sgList: [{ mr: memory, offset: slot * size, length: size }] });
    }
    qp.postRecvBatch(receives);
    this.#qp = qp;
    this.#receives = receives;
  }

  /** The queue pair is in RTS, and the peer's receive requests are posted. */
  open(peer: Announcement, events: PipeEvents): void {
    const qp = this.#qp;
    if (qp?.pd === undefined)
      throw new VerbsError(errno.EINVAL, 'ibv_post_send', { hint: 'prepare() comes before open()' });
    const slots = sendSlots(this.#mine.slots);
    const sending = new SendRing(qp.pd, slots, Math.min(this.#mine.size, peer.size), EXTRAS);
    for (let extra = 0; extra < EXTRAS; extra++) {
      const wrId = SENDS + slots + extra;
      const { SIGNALED: sendFlags } = SendFlags;
      // Without bytes it needs no key, and consumes nothing of the peer's: it only has to be acknowledged.
      if (extra === EXTRA.probe)
        sending.batch.set(slots + extra, { opcode: WrOpcode.RDMA_WRITE, sendFlags, wrId, remoteAddr: 0, rkey: 0 });
      else sending.batch.set(slots + extra, { opcode: WrOpcode.SEND_WITH_IMM, sendFlags, wrId, immData: 0 });
    }
    this.#sending = sending;
    this.#credits = peer.slots;
    this.#events = events;
    for (const cq of this.#queues()) this.#serve(cq);
  }

  /** Writes bytes; `done` is called when they are copied. Without it more follows at once, which goes with them. */
  write(bytes: Uint8Array, done?: (error?: Error) => void): void {
    if (this.#broken) {
      done?.(gone('the connection has ended'));
      return;
    }
    this.#chunks.push({ bytes, length: bytes.byteLength, done });
    if (done !== undefined) this.#pump();
  }

  /** Ends this side behind the bytes of before; `done` is called when the peer has all of it. */
  finish(done: () => void): void {
    this.#finish = done;
    this.#finished = 'wanted';
    if (this.#broken) this.#acknowledged();
    else this.#pump();
  }

  /** The reader takes bytes again. */
  resume(): void {
    if (this.#reading) return;
    this.#reading = true;
    if (this.#arrived.length === 0) return;
    this.#deliver();
    this.#returnCredits();
  }

  /** Whether the process stays alive for the peer. */
  set quiet(quiet: boolean) {
    this.#quiet = quiet;
    for (const cq of this.#queues()) cq.channel?.[kEvents].quiet(cq, quiet);
  }

  /**
   * Asks the peer's device for an acknowledgement if nothing was heard of it since the last call. It is not answered by a peer
   * that is gone, and then the pipe fails.
   */
  probe(): void {
    const heard = this.#heard;
    this.#heard = false;
    if (this.#qp?.closed === true) this.#lost();
    else if (!heard && this.#idling) this.#postExtra(EXTRA.probe);
  }

  /** The connection has ended: what arrived before counts, and a peer that had not ended its side is gone. */
  peerGone(): void {
    if (this.#qp?.closed === true) {
      this.#lost();
      return;
    }
    this.#poll();
    this.#over(gone('the connection has ended'));
  }

  /** The peer does not answer any more. That is no failure if it had ended its side, and no byte is on its way to it. */
  #over(error: Error): void {
    if (this.#broken) return;
    const { filled, underWay: sent } = this.#sending ?? { filled: 0, underWay: 0 };
    const underWay = this.#first !== this.#chunks.length || filled + sent !== 0;
    if (!this.#peerEnded || underWay) {
      this.#fail(error);
      return;
    }
    this.#broken = true;
    this.#idle?.();
    // Only the acknowledgement of the end was missing.
    if (this.#finished === 'wanted' || this.#finished === 'sent') this.#acknowledged();
  }

  /** Calls back when no message is on its way any more. */
  whenIdle(done: () => void): void {
    if (this.#idling || this.#broken) done();
    else this.#idle = done;
  }

  /** Tells the peer that no byte follows, without waiting; for a socket that is destroyed. */
  abandon(): void {
    this.#events = undefined;
    this.#dropChunks();
    this.#finish = undefined;
    if (this.#finished === 'no') this.#finished = 'wanted';
    this.#pump();
  }

  close(): void {
    this.#broken = true;
    this.#events = undefined;
    this.#memory?.close();
    this.#sending?.close();
  }

  /** Nothing is on its way. */
  get #idling(): boolean {
    return this.#extras.size === 0 && (this.#sending?.underWay ?? 0) === 0;
  }

  #queues(): Set<CompletionQueue> {
    const { sendCq, recvCq } = this.#qp ?? {};
    return new Set([sendCq, recvCq].filter((cq) => cq !== undefined));
  }

  /** Takes completions until the queue is closed. */
  #serve(cq: CompletionQueue): void {
    const batch = new CompletionBatch(COMPLETIONS);
    cq.channel?.[kEvents].quiet(cq, this.#quiet);
    cq[kServe]({
      take: () => {
        if (cq.closed) this.#lost();
        return this.#broken ? undefined : this.#take(cq, batch);
      },
      ended: (error) => {
        if (cq.closed) this.#lost();
        else this.#fail(error as Error);
      },
    });
  }

  #poll(): void {
    for (const cq of this.#queues()) if (!cq.closed) this.#take(cq, new CompletionBatch(COMPLETIONS));
  }

  /** Returns the number of completions. */
  #take(cq: CompletionQueue, batch: CompletionBatch): number {
    let taken = 0;
    // A poll that finds nothing makes the software NIC send an acknowledgement that could go with the next message.
    for (let count = COMPLETIONS; count === COMPLETIONS && !cq.closed; taken += count) {
      count = cq.pollBatch(batch);
      for (let i = 0; i < count; i++) {
        const wrId = Number(batch.wrId(i));
        const status = batch.status(i);
        if (status !== WcStatus.SUCCESS) this.#failedRequest(status);
        else if (wrId >= SENDS) this.#sent(wrId - SENDS);
        // A write with immediate data consumes a receive request, and its length is that of what was written elsewhere.
        else if (batch.opcode(i) !== WcOpcode.RECV || batch.byteLen(i) > this.#mine.size) this.#fail(foreign());
        else this.#received(wrId, batch.byteLen(i), batch.immData(i));
      }
    }
    if (taken === 0 || this.#broken) return taken;
    this.#deliver();
    this.#pump(true);
    this.#returnCredits();
    return taken;
  }

  #received(slot: number, length: number, imm: number): void {
    this.#heard = true;
    this.#credits += imm & CREDIT_MASK;
    const kind = imm >>> CREDIT_BITS;
    if (kind === END) this.#peerEnded = true;
    if (kind === DATA && length > 0 && !this.#peerEnded) this.#arrived.push({ slot, length });
    else this.#repost(slot);
  }

  #sent(slot: number): void {
    this.#heard = true;
    const slots = sendSlots(this.#mine.slots);
    if (slot < slots) {
      this.#sending?.release();
      this.#events?.arrived();
    } else this.#extras.delete(slot - slots);
    if (slot === slots + EXTRA.end) this.#acknowledged();
    if (!this.#idling) return;
    this.#idle?.();
    this.#idle = undefined;
  }

  #acknowledged(): void {
    this.#finished = 'acknowledged';
    this.#finish?.();
    this.#finish = undefined;
  }

  /** Hands the messages to the reader, as long as it takes them; their slots are free again. */
  #deliver(): void {
    const memory = this.#memory;
    while (this.#reading && memory !== undefined) {
      const first = this.#arrived.shift();
      if (first === undefined) break;
      const { slot, length } = first;
      const at = slot * this.#mine.size;
      // A stream does not tell when its consumer is done with the bytes: so they are copied once.
      const bytes = Buffer.allocUnsafe(length);
      bytes.set(memory.bytes.subarray(at, at + length));
      this.#repost(slot);
      this.#reading = this.#tell(bytes);
      // The peer need not wait for the reader's last message.
      if (this.#vacant.count > this.#mine.slots / 4) this.#postVacant();
      this.#returnCredits();
    }
    this.#postVacant();
    if (!this.#peerEnded || this.#ended || this.#arrived.length !== 0) return;
    this.#ended = true;
    this.#events?.end();
  }

  /** Whether the reader takes more. */
  #tell(bytes: Buffer): boolean {
    try {
      return this.#events?.data(bytes) ?? true;
    } catch (error) {
      uncaught(error);
      return true;
    }
  }

  /** The slot's receive request is posted with those of the slots behind it. */
  #repost(slot: number): void {
    const vacant = this.#vacant;
    if (slot !== vacant.first + vacant.count) {
      this.#postVacant();
      vacant.first = slot;
    }
    vacant.count++;
  }

  #postVacant(): void {
    const { first, count } = this.#vacant;
    if (count === 0) return;
    this.#vacant.count = 0;
    if (this.#broken || this.#qp?.closed !== false || this.#receives === undefined) return;
    this.#qp.postRecvBatch(this.#receives, first, count);
    this.#owed += count;
  }

  /** Sends what the peer has room for; the bytes of a message that is not full leave at the end of this turn, or at once. */
  #pump(atOnce = false): void {
    if (this.#sending === undefined || this.#broken) return;
    this.#copy(this.#sending);
    if (this.#finished === 'wanted' && this.#first === this.#chunks.length && this.#credits !== 0) {
      this.#flush();
      this.#finished = 'sent';
      this.#postExtra(EXTRA.end, END);
    } else if (atOnce) {
      this.#flush();
    } else if (this.#sending.filled !== 0 && !this.#leaving) {
      this.#leaving = true;
      process.nextTick(this.#leave);
    }
  }

  /** Copies several chunks into one message, and one chunk into several messages. A message that is full leaves. */
  #copy(sending: SendRing): void {
    for (
      let chunk = this.#chunks[this.#first];
      chunk !== undefined && !this.#broken;
      chunk = this.#chunks[this.#first]
    ) {
      const { bytes, length, done } = chunk;
      if (this.#copiedOfFirst < length) {
        if (!this.#mayFill(sending)) return;
        try {
          if (bytes.byteLength !== length) throw valueError('chunk', 'was detached or resized while it waited');
          this.#copiedOfFirst += sending.append(bytes, this.#copiedOfFirst);
        } catch (error) {
          this.#fail(error as Error);
          return;
        }
        if (sending.filled === sending.size) this.#flush();
        if (this.#copiedOfFirst < length) continue;
      }
      this.#copiedOfFirst = 0;
      if (++this.#first === this.#chunks.length) this.#dropChunks();
      try {
        // It may write more.
        done?.();
      } catch (error) {
        uncaught(error);
      }
    }
  }

  readonly #leave = (): void => {
    this.#leaving = false;
    this.#flush();
  };

  /** Whether the open slot takes bytes; with the first ones it takes a credit. */
  #mayFill(sending: SendRing): boolean {
    if (sending.filled !== 0) return true;
    if (!sending.hasRoom || this.#credits <= RESERVE) return false;
    this.#credits--;
    return true;
  }

  /** Sends the bytes of the open slot. */
  #flush(): void {
    if (this.#sending === undefined || this.#sending.filled === 0 || this.#broken) return;
    this.#post(this.#sending.take(), DATA);
  }

  #dropChunks(): void {
    this.#chunks = [];
    this.#first = 0;
    this.#copiedOfFirst = 0;
  }

  /** A message without data for the credits, when half of the peer's are spent. */
  #returnCredits(): void {
    if (this.#owed < this.#mine.slots / 2 || this.#credits === 0) return;
    this.#postExtra(EXTRA.credits, CREDITS);
  }

  #postExtra(which: number, kind?: number): void {
    if (this.#sending === undefined || this.#broken || this.#extras.has(which)) return;
    if (kind !== undefined) this.#credits--;
    this.#extras.add(which);
    this.#post(sendSlots(this.#mine.slots) + which, kind);
  }

  #post(slot: number, kind?: number): void {
    const qp = this.#qp;
    const batch = this.#sending?.batch;
    if (qp === undefined || batch === undefined) return;
    try {
      if (kind !== undefined) {
        batch.setImmData(slot, ((kind << CREDIT_BITS) | this.#owed) >>> 0);
        this.#owed = 0;
      }
      qp.postSendBatch(batch, slot, 1);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #failedRequest(status: number): void {
    const name = enumName(WcStatus, status);
    const flushed = status === WcStatus.WR_FLUSH_ERR;
    this.#over(
      gone(
        flushed ? `the queue pair is in ${enumName(QpState, QpState.ERR)}` : `${name}, ${wcStatusText(status)}`,
        statusHint(status),
      ),
    );
  }

  #fail(error: Error): void {
    if (this.#broken) return;
    // What is handed out now is not posted again: a queue pair that failed may take no request.
    this.#receives = undefined;
    this.#deliver();
    this.#broken = true;
    this.#idle?.();
    this.#events?.failed(error);
  }

  /** Nothing moves any more, and no completion tells so. */
  #lost(): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#idle?.();
    this.#events?.lost();
  }
}

function foreign(): VerbsError {
  return new VerbsError(errno.EPROTO, 'ibv_poll_cq', {
    text: 'the peer does not speak the protocol of sockets',
    hint: 'it writes with immediate data (RDMA_WRITE_WITH_IMM), which takes a message of the socket: both ends need a socket of @verbs/core/stream, and nothing else may use its queue pair',
  });
}

function gone(why: string, hint?: string): VerbsError {
  return new VerbsError(errno.ECONNRESET, 'ibv_poll_cq', { text: `the peer is gone (${why})`, hint });
}
