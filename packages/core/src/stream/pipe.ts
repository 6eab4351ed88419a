import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';
import { kEvents } from '../base/symbols.js';
import { CompletionBatch } from '../completion/completion-batch.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import { wcStatusText } from '../completion/work-completion.js';
import { AccessFlags, enumName, QpState, SendFlags, WcStatus, WrOpcode } from '../enums/index.js';
import type { MemoryRegion } from '../memory/memory-region.js';
import { RecvBatch } from '../posting/recv-batch.js';
import { SendBatch } from '../posting/send-batch.js';
import type { QueuePair } from '../qp/queue-pair.js';
import { statusHint } from '../reasons/status-hint.js';
import type { Announcement } from './announcement.js';

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

/** The `wrId` of send requests; those of receive requests are their slots. */
const SENDS = 1 << 16;
const COMPLETIONS = 64;

/** Send requests that a pipe has outstanding at most. */
export const sendRequests = (slots: number) => sendSlots(slots) + EXTRAS;
const sendSlots = (slots: number) => Math.min(slots, 16);

/** Whom a pipe tells. */
export interface PipeEvents {
  /** Bytes, which belong to the callee. False asks for no more until `resume()`. */
  data(bytes: Buffer): boolean;
  /** The peer has ended its side: no byte follows. */
  end(): void;
  /** The pipe is broken. */
  failed(error: Error): void;
}

interface Chunk {
  bytes: Uint8Array;
  done: (error?: Error) => void;
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
  #sending: { mr: MemoryRegion; batch: SendBatch; size: number; free: number[]; slots: number } | undefined;
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
  readonly #chunks: Chunk[] = [];
  /** Bytes of the first chunk that are sent already. */
  #sentOfFirst = 0;
  readonly #busy = new Set<number>();
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
    const memory = pd.allocMr(slots * size, AccessFlags.LOCAL_WRITE);
    const receives = new RecvBatch(slots);
    for (let slot = 0; slot < slots; slot++) {
      receives.set(slot, { wrId: slot, sgList: [{ mr: memory, offset: slot * size, length: size }] });
    }
    qp.postRecvBatch(receives);
    this.#qp = qp;
    this.#memory = memory;
    this.#receives = receives;
  }

  /** The queue pair is in RTS, and the peer's receive requests are posted. */
  open(peer: Announcement, events: PipeEvents): void {
    const qp = this.#qp;
    if (qp?.pd === undefined)
      throw new VerbsError(errno.EINVAL, 'ibv_post_send', { hint: 'prepare() comes before open()' });
    const slots = sendSlots(this.#mine.slots);
    const size = Math.min(this.#mine.size, peer.size);
    const mr = qp.pd.allocMr(slots * size, AccessFlags.LOCAL_WRITE);
    const batch = new SendBatch(slots + EXTRAS);
    const common = { opcode: WrOpcode.SEND_WITH_IMM, sendFlags: SendFlags.SIGNALED, immData: 0 } as const;
    for (let slot = 0; slot < slots + EXTRAS; slot++) {
      const wrId = SENDS + slot;
      if (slot < slots) batch.set(slot, { ...common, wrId, sgList: [{ mr, offset: slot * size, length: size }] });
      else if (slot !== slots + EXTRA.probe) batch.set(slot, { ...common, wrId });
      // Without bytes it needs no key, and consumes nothing of the peer's: it only has to be acknowledged.
      else
        batch.set(slot, { opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, wrId, remoteAddr: 0, rkey: 0 });
    }
    const free = Array.from({ length: slots }, (_, i) => slots - 1 - i);
    this.#sending = { mr, batch, size, free, slots };
    this.#credits = peer.slots;
    this.#events = events;
    for (const cq of this.#queues()) void this.#run(cq);
  }

  /** Writes bytes; `done` is called when they are copied, and may be another's. */
  write(bytes: Uint8Array, done: (error?: Error) => void): void {
    if (this.#broken) {
      done(gone('the connection has ended'));
      return;
    }
    this.#chunks.push({ bytes, done });
    this.#pump();
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
    if (!heard && this.#sending !== undefined && this.#busy.size === 0) this.#postExtra(EXTRA.probe);
  }

  /** The connection has ended: what arrived before counts, and a peer that had not ended its side is gone. */
  peerGone(): void {
    this.#poll();
    this.#over(gone('the connection has ended'));
  }

  /** The peer does not answer any more. That is no failure if it had ended its side, and no byte is on its way to it. */
  #over(error: Error): void {
    if (this.#broken) return;
    const { slots } = this.#sending ?? { slots: 0 };
    const underWay = this.#chunks.length !== 0 || [...this.#busy].some((slot) => slot < slots);
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
    if (this.#busy.size === 0 || this.#broken) done();
    else this.#idle = done;
  }

  /** Tells the peer that no byte follows, without waiting; for a socket that is destroyed. */
  abandon(): void {
    this.#events = undefined;
    this.#chunks.length = 0;
    this.#sentOfFirst = 0;
    this.#finish = undefined;
    if (this.#finished === 'no') this.#finished = 'wanted';
    this.#pump();
  }

  close(): void {
    this.#broken = true;
    this.#events = undefined;
    this.#memory?.close();
    this.#sending?.mr.close();
  }

  #queues(): Set<CompletionQueue> {
    const { sendCq, recvCq } = this.#qp ?? {};
    return new Set([sendCq, recvCq].filter((cq) => cq !== undefined));
  }

  /** Waits for completions until the queue is closed. */
  async #run(cq: CompletionQueue): Promise<void> {
    const batch = new CompletionBatch(COMPLETIONS);
    cq.channel?.[kEvents].quiet(cq, this.#quiet);
    try {
      while (!this.#broken) {
        this.#take(cq, batch);
        await cq.wait();
      }
    } catch (error) {
      if (!cq.closed) this.#fail(error as Error);
    }
  }

  #poll(): void {
    for (const cq of this.#queues()) if (!cq.closed) this.#take(cq, new CompletionBatch(COMPLETIONS));
  }

  #take(cq: CompletionQueue, batch: CompletionBatch): void {
    while (!cq.closed && cq.pollBatch(batch) !== 0) {
      for (let i = 0; i < batch.length; i++) {
        const wrId = Number(batch.wrId(i));
        const status = batch.status(i);
        if (status !== WcStatus.SUCCESS) this.#failedRequest(status);
        else if (wrId >= SENDS) this.#sent(wrId - SENDS);
        else this.#received(wrId, batch.byteLen(i), batch.immData(i));
      }
    }
    if (this.#broken) return;
    this.#deliver();
    this.#pump();
    this.#returnCredits();
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
    const { free, slots } = this.#sending ?? { free: [] as number[], slots: 0 };
    this.#heard = true;
    this.#busy.delete(slot);
    if (slot < slots) free.push(slot);
    if (slot === slots + EXTRA.end) this.#acknowledged();
    if (this.#busy.size !== 0) return;
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
      const bytes = Buffer.from(memory.bytes.subarray(at, at + length));
      this.#repost(slot);
      this.#reading = this.#events?.data(bytes) ?? true;
    }
    if (!this.#peerEnded || this.#ended || this.#arrived.length !== 0) return;
    this.#ended = true;
    this.#events?.end();
  }

  #repost(slot: number): void {
    if (this.#broken || this.#qp?.closed !== false || this.#receives === undefined) return;
    this.#qp.postRecvBatch(this.#receives, slot, 1);
    this.#owed++;
  }

  /** Sends what the peer has room for: several chunks in one message, and several messages of one chunk. */
  #pump(): void {
    const sending = this.#sending;
    if (sending === undefined || this.#broken) return;
    const { mr, batch, size, free } = sending;
    while (this.#chunks.length !== 0 && this.#credits > RESERVE) {
      const slot = free.pop();
      if (slot === undefined) return;
      // The callbacks may write more: they run when this message has its place in the order.
      const done: Chunk['done'][] = [];
      const length = this.#fill(mr.bytes, slot * size, size, done);
      batch.setSge(slot, 0, slot * size, length);
      this.#post(slot, DATA);
      for (const each of done) each();
    }
    if (this.#finished !== 'wanted' || this.#chunks.length !== 0 || this.#credits === 0) return;
    this.#finished = 'sent';
    this.#postExtra(EXTRA.end, END);
  }

  /** Copies from the chunks into a slot. Returns the number of bytes. */
  #fill(target: Uint8Array, at: number, size: number, done: Chunk['done'][]): number {
    let length = 0;
    for (let first = this.#chunks[0]; first !== undefined && length < size; first = this.#chunks[0]) {
      const part = first.bytes.subarray(this.#sentOfFirst, this.#sentOfFirst + size - length);
      target.set(part, at + length);
      length += part.byteLength;
      this.#sentOfFirst += part.byteLength;
      if (this.#sentOfFirst < first.bytes.byteLength) break;
      this.#chunks.shift();
      this.#sentOfFirst = 0;
      done.push(first.done);
    }
    return length;
  }

  /** A message without data for the credits, when half of the peer's are spent. */
  #returnCredits(): void {
    if (this.#owed < this.#mine.slots / 2 || this.#credits === 0) return;
    this.#postExtra(EXTRA.credits, CREDITS);
  }

  #postExtra(which: number, kind?: number): void {
    const { slots } = this.#sending ?? {};
    if (slots !== undefined && !this.#broken && !this.#busy.has(slots + which)) this.#post(slots + which, kind);
  }

  #post(slot: number, kind?: number): void {
    const qp = this.#qp;
    const batch = this.#sending?.batch;
    if (qp === undefined || batch === undefined) return;
    if (kind !== undefined) {
      batch.setImmData(slot, ((kind << CREDIT_BITS) | this.#owed) >>> 0);
      this.#owed = 0;
      this.#credits--;
    }
    this.#busy.add(slot);
    try {
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
    this.#deliver();
    this.#broken = true;
    this.#idle?.();
    this.#events?.failed(error);
  }
}

function gone(why: string, hint?: string): VerbsError {
  return new VerbsError(errno.ECONNRESET, 'ibv_poll_cq', { text: `the peer is gone (${why})`, hint });
}
