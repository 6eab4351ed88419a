import { type RecvBatch, SendBatch, SendFlags } from '@verbs/core';
import { Failure } from '@verbs/lib/failure';
import type { End } from './end.js';
import { operationRequest } from './request.js';
import type { Spinner } from './spin.js';
import { Progress } from './statistics.js';

/** Longest time without the event loop, in milliseconds. */
const TURN_MS = 50;

/** The end that posts: `depth` messages are on their way at a time. */
export class BandwidthSource {
  readonly #end: End;
  readonly #spinner: Spinner;
  readonly #requests: SendBatch;

  constructor(end: End, spinner: Spinner) {
    this.#end = end;
    this.#spinner = spinner;
    this.#requests = new SendBatch(end.plan.depth);
  }

  begin(size: number): void {
    const request = operationRequest(this.#end, size, SendFlags.SIGNALED);
    for (let i = 0; i < this.#requests.capacity; i++) this.#requests.set(i, request);
  }

  async measure(count: number, timeoutMs: number): Promise<Progress> {
    const progress = new Progress(count + 1);
    let posted = 0;
    let done = 0;
    let turn = performance.now();
    let last = turn;
    progress.add(turn, 0);
    while (done < count) {
      posted += this.#fill(count, posted, done);
      const found = this.#spinner.poll();
      if (found === 0 && !this.#spinner.due) continue;
      const now = performance.now();
      if (found !== 0) {
        done += found;
        last = now;
        progress.add(now, done);
      }
      if (now - turn < TURN_MS) continue;
      if (now - last > timeoutMs) throw new Failure(`message ${done + 1} was not done within ${timeoutMs} ms`);
      await this.#spinner.yieldToEventLoop();
      turn = performance.now();
    }
    return progress;
  }

  /** Fills the send queue up to `depth`, `list` requests a call. */
  #fill(count: number, posted: number, done: number): number {
    const { depth, list } = this.#end.plan;
    const first = posted;
    for (;;) {
      const next = Math.min(list, count - posted);
      if (next === 0 || posted - done + next > depth) return posted - first;
      // All requests are alike, so any slot will do.
      this.#end.qp.postSendBatch(this.#requests, 0, next);
      posted += next;
    }
  }
}

/** The passive end: the target of SENDs, WRITEs or READs. */
export class BandwidthTarget {
  readonly #end: End;
  readonly #spinner: Spinner;
  readonly #receives: RecvBatch;

  constructor(end: End, spinner: Spinner) {
    this.#end = end;
    this.#spinner = spinner;
    this.#receives = end.postReceives();
  }

  /** Receives until `over`. Returns the number of messages. */
  async receive(over: () => boolean): Promise<number> {
    let received = 0;
    await this.#spinner.pollUntil(over, (count) => {
      received += count;
      this.#end.qp.postRecvBatch(this.#receives, 0, count);
    });
    return received;
  }
}
