import { setImmediate } from 'node:timers/promises';
import { CompletionBatch, type CompletionQueue, WcStatus, wcStatusText } from '@verbs/core';
import { Failure } from '@verbs/lib/failure';

/** Polls of a queue before the event loop may run. */
const SPINS = 20_000;

/** Milliseconds without a completion before the event loop runs. */
const IDLE_MS = 1;

/**
 * Polls without a pause, because a measured operation takes microseconds. Only after a while without a completion it lets
 * Node's event loop run, which delivers signals and the peer's disconnect.
 */
export class Spinner {
  readonly done: CompletionBatch;
  readonly #cq: CompletionQueue;
  readonly #check: () => void;
  #polls = 0;

  /** @param check throws if waiting is pointless */
  constructor(cq: CompletionQueue, capacity: number, check: () => void) {
    this.#cq = cq;
    this.done = new CompletionBatch(capacity);
    this.#check = check;
  }

  /** The available completions, all successful; possibly none. */
  poll(): number {
    const { done } = this;
    this.#polls++;
    const count = this.#cq.pollBatch(done);
    for (let i = 0; i < count; i++) if (done.status(i) !== WcStatus.SUCCESS) throw this.#failure(i);
    return count;
  }

  /** True now and then: time to read the clock, which costs as much as a poll. */
  get due(): boolean {
    return (this.#polls & 0xff) === 0;
  }

  /** True if `condition` holds within some thousand checks. */
  spin(condition: () => boolean): boolean {
    for (let i = 0; i < SPINS; i++) if (condition()) return true;
    return false;
  }

  /**
   * Polls until `over`, which is checked when no completion comes. Polling makes the progress of a software NIC.
   *
   * @param receive called with the number of completions, those in `done`
   */
  async pollUntil(over: () => boolean, receive: (count: number) => void): Promise<void> {
    let yielded = performance.now();
    for (;;) {
      const count = this.poll();
      if (count !== 0) receive(count);
      else if (this.due && performance.now() - yielded > IDLE_MS) {
        await this.yieldToEventLoop();
        if (over()) break;
        yielded = performance.now();
      }
    }
    // Messages in flight when the other end had its last completion.
    for (let count = this.poll(); count !== 0; count = this.poll()) receive(count);
  }

  /** Lets the event loop run once. */
  async yieldToEventLoop(): Promise<void> {
    await setImmediate();
    this.#check();
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
