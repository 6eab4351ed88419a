import { CompletionBatch, SendBatch, SendFlags, wcStatusText, WrOpcode } from '@verbs/core';
import type { Address, End } from './end.js';
import type { Task } from './task.js';

const pattern = (offset: number) => (offset * 31 + (offset >> 12)) & 0xff;

/** Bytes of either end's buffer. */
export function writesBytes({ size, window }: Task): number {
  return size * window;
}

export function fillPattern({ mr }: End): void {
  for (let i = 0; i < mr.length; i++) mr.bytes[i] = pattern(i);
}

export function checkPattern({ mr }: End): void {
  for (let i = 0; i < mr.length; i++) if (mr.bytes[i] !== pattern(i)) throw new Error(`byte ${i} is wrong`);
}

/**
 * A stream of RDMA WRITEs into the slots of the other end's buffer, as native/writes.c makes it. The last of all tells
 * the other end that all is there.
 */
export abstract class Writes {
  protected readonly end: End;
  protected readonly task: Task;
  protected readonly theirs: Address;
  protected posted = 0;
  protected done = 0;
  #until = 0;

  constructor(end: End, task: Task, theirs: Address) {
    this.end = end;
    this.task = task;
    this.theirs = theirs;
  }

  /** Writes to add, a multiple of the window. */
  begin(count: number): void {
    this.#until += count;
  }

  /** Fills the window. */
  fill(): void {
    const { window, list } = this.task;
    for (;;) {
      const next = Math.min(list, this.#until - this.posted);
      if (next === 0 || this.posted - this.done + next > window) return;
      this.post(next);
      this.posted += next;
    }
  }

  get unfinished(): boolean {
    return this.done < this.#until;
  }

  protected abstract post(count: number): void;
  /** Polls completions; does not wait. */
  abstract poll(): void;

  /** Awaits that number of requests, each by its promise; as many as the window has are on their way at a time. */
  async promised(count: number): Promise<void> {
    const { window } = this.task;
    const chain = async (first: number) => {
      for (let i = first; i < count; i += window) await this.end.qp.send(this.request(i));
    };
    await Promise.all(Array.from({ length: window }, (_, i) => chain(i)));
    this.posted = this.done = this.#until += count;
  }

  /** One request. */
  protected request(number: number) {
    const { size, window } = this.task;
    const offset = (number % window) * size;
    return {
      wrId: number,
      opcode: WrOpcode.RDMA_WRITE,
      sendFlags: SendFlags.SIGNALED,
      sgList: [{ mr: this.end.mr, offset, length: size }],
      remoteAddr: Number(this.theirs.addr) + offset,
      rkey: this.theirs.rkey,
    };
  }

  /** The write with immediate. */
  finish(): void {
    this.end.qp.postSend({ ...this.request(0), opcode: WrOpcode.RDMA_WRITE_WITH_IMM, immData: 0 });
    this.posted = this.#until = this.done + 1;
  }
}

/** One call for each request, and an object for each completion. */
export class PlainWrites extends Writes {
  protected override post(count: number): void {
    for (let i = 0; i < count; i++) this.end.qp.postSend(this.request(this.posted + i));
  }

  override poll(): void {
    for (const wc of this.end.cq.poll(64)) {
      if (!wc.ok) throw new Error(wc.statusText);
      this.done++;
    }
  }
}

/** Requests that were written once; only their wrId changes. */
export class BatchedWrites extends Writes {
  readonly #batch: SendBatch;
  readonly #completions = new CompletionBatch(64);

  constructor(end: End, task: Task, theirs: Address) {
    super(end, task, theirs);
    this.#batch = new SendBatch(task.window);
    for (let i = 0; i < task.window; i++) this.#batch.set(i, this.request(i));
  }

  protected override post(count: number): void {
    const first = this.posted % this.task.window;
    for (let i = 0; i < count; i++) this.#batch.setWrId(first + i, this.posted + i);
    this.end.qp.postSendBatch(this.#batch, first, count);
  }

  override poll(): void {
    const batch = this.#completions;
    const count = this.end.cq.pollBatch(batch);
    for (let i = 0; i < count; i++) if (!batch.ok(i)) throw new Error(wcStatusText(batch.status(i)));
    this.done += count;
  }
}
