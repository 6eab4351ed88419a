import { setImmediate } from 'node:timers/promises';
import { CompletionBatch, type CompletionQueue, WcStatus, wcStatusText } from '@verbs/core';
import { Failure } from '@verbs/lib/failure';

/** Looks at a queue before the loop gets a turn. */
const SPINS = 20_000;

/** So long nothing has come, in milliseconds, when the loop gets one. */
const IDLE_MS = 1;

/**
 * Polls without a pause, as what is measured is over in microseconds; only where nothing has come for a while does
 * Node's loop get a turn, in which a signal or the end of the peer shows.
 */
export class Spinner {
  readonly done: CompletionBatch;
  readonly #cq: CompletionQueue;
  readonly #look: () => void;
  #polls = 0;

  /** @param look throws if there is no sense in waiting on */
  constructor(cq: CompletionQueue, capacity: number, look: () => void) {
    this.#cq = cq;
    this.done = new CompletionBatch(capacity);
    this.#look = look;
  }

  /** The completions that are there, maybe none; each of them a success. */
  poll(): number {
    const { done } = this;
    this.#polls++;
    const count = this.#cq.pollBatch(done);
    for (let i = 0; i < count; i++) if (done.status(i) !== WcStatus.SUCCESS) throw this.#failure(i);
    return count;
  }

  /** Now and then: time to look at the clock, which costs as much as a poll. */
  get due(): boolean {
    return (this.#polls & 0xff) === 0;
  }

  /** True when `condition` holds within some thousand looks at it. */
  spin(condition: () => boolean): boolean {
    for (let i = 0; i < SPINS; i++) if (condition()) return true;
    return false;
  }

  /**
   * Polls until `over`, which is asked when nothing comes: who polls makes the progress of a software NIC.
   *
   * @param take called with the number of completions, those in `done`
   */
  async pollUntil(over: () => boolean, take: (count: number) => void): Promise<void> {
    let turn = performance.now();
    for (;;) {
      const count = this.poll();
      if (count !== 0) take(count);
      else if (this.due && performance.now() - turn > IDLE_MS) {
        await this.breathe();
        if (over()) break;
        turn = performance.now();
      }
    }
    // What was on its way when the other end had its last completion.
    for (let count = this.poll(); count !== 0; count = this.poll()) take(count);
  }

  /** A turn of the loop. */
  async breathe(): Promise<void> {
    await setImmediate();
    this.#look();
  }

  #failure(index: number): Failure {
    const status = this.done.status(index);
    const gone = status === WcStatus.RETRY_EXC_ERR || status === WcStatus.WR_FLUSH_ERR;
    return new Failure(
      `a request failed: ${wcStatusText(status)}`,
      gone ? { hint: 'does the other end still run?' } : {},
    );
  }
}
