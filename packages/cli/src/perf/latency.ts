import { type RecvBatch, SendBatch, SendFlags, WcOpcode } from '@verbs/core';
import { Failure } from '@verbs/lib/failure';
import type { End } from './end.js';
import { operationRequest } from './request.js';
import type { Spinner } from './spin.js';

/** Successive values of the written byte; never its initial 0. */
const VALUES = 255;

/**
 * One end of a latency measurement. The peer's program replies to a SEND by a SEND and to a WRITE by a WRITE, and half
 * the time counts. The peer's NIC responds to READs and atomic operations, and the whole time counts.
 */
export class LatencyEnd {
  readonly #end: End;
  readonly #spinner: Spinner;
  readonly #receives: RecvBatch;
  readonly #request = new SendBatch(1);
  #size = 0;
  #received = 0;
  #completed = 0;
  #posted = 0;
  /** Of our WRITEs so far, and the last byte of the other end's next one. */
  #writes = 0;
  #expected = 1;

  constructor(end: End, spinner: Spinner) {
    this.#end = end;
    this.#spinner = spinner;
    this.#receives = end.postReceives();
  }

  /** Before the other end begins with messages of that size. */
  begin(size: number): void {
    this.#size = size;
    this.#writes = 0;
    this.#expected = 1;
    this.#end.mr.bytes[this.#end.inbox + size - 1] = 0;
    this.#request.set(0, operationRequest(this.#end, size, SendFlags.SIGNALED));
  }

  /** Times in microseconds. */
  async measure(count: number, timeoutMs: number): Promise<Float64Array> {
    const times = new Float64Array(count);
    const share = this.#answered ? 500 : 1000;
    for (let i = 0; i < count; i++) {
      const start = performance.now();
      this.#post();
      if (!this.#spinner.spin(this.#arrived)) await this.#wait(i, timeoutMs);
      times[i] = (performance.now() - start) * share;
      this.#consume();
    }
    return times;
  }

  /** Replies to `iterations` messages, or until `over` reports that the other end has given up. */
  async answer(count: number, over: () => boolean): Promise<void> {
    if (!this.#answered) return;
    for (let i = 0; i < count; i++) {
      while (!this.#spinner.spin(this.#arrived)) {
        await this.#spinner.yieldToEventLoop();
        if (over()) return;
      }
      this.#consume();
      this.#post();
    }
  }

  get #answered(): boolean {
    return this.#end.plan.operation === 'send' || this.#end.plan.operation === 'write';
  }

  #post(): void {
    if (this.#end.plan.operation === 'write') {
      this.#end.mr.bytes[this.#size - 1] = (this.#writes++ % VALUES) + 1;
    }
    this.#end.qp.postSendBatch(this.#request);
    this.#posted++;
  }

  /** Whether the awaited message has arrived. */
  readonly #arrived = (): boolean => {
    const { done } = this.#spinner;
    const count = this.#spinner.poll();
    for (let i = 0; i < count; i++) {
      if (done.opcode(i) === WcOpcode.RECV) this.#received++;
      else this.#completed++;
    }
    switch (this.#end.plan.operation) {
      case 'send':
        return this.#received > 0;
      case 'write':
        return this.#end.mr.bytes[this.#end.inbox + this.#size - 1] === this.#expected;
      default:
        return this.#completed === this.#posted;
    }
  };

  #consume(): void {
    if (this.#end.plan.operation === 'send') {
      this.#received--;
      this.#end.qp.postRecvBatch(this.#receives, 0, 1);
    }
    this.#expected = (this.#expected % VALUES) + 1;
  }

  async #wait(i: number, timeoutMs: number): Promise<void> {
    const start = performance.now();
    do {
      await this.#spinner.yieldToEventLoop();
      if (performance.now() - start > timeoutMs) {
        throw new Failure(`no answer to message ${i + 1} within ${timeoutMs} ms`, {
          hint:
            this.#end.plan.transport === 'RC'
              ? 'does the other end still run? --timeout sets how long to wait'
              : `${this.#end.plan.transport} repeats nothing that is lost on the way`,
        });
      }
    } while (!this.#spinner.spin(this.#arrived));
  }
}
