import type { FdEvents } from '../base/fd-events.js';
import { AwaitedRequests } from './awaited-requests.js';
import { mustTurn } from './turn.js';

/** A completion queue, for the promises of its requests. Each call may throw. */
interface Looking {
  events: () => FdEvents;
  arm: () => void;
  /** Settles the promises of what it finds. */
  look: () => void;
}

/**
 * The promises that wait for requests of one completion queue. One look serves all that were posted meanwhile: it comes
 * when the code that runs has ended, and that which goes on because a promise was settled. So an answer leaves before
 * the queue is looked at again, and who sends and receives sleeps once, not twice.
 */
export class RequestWaits {
  readonly requests = new AwaitedRequests();
  readonly #queue: Looking;
  /** Where this sleeps. */
  #events: FdEvents | undefined;
  #due = false;

  constructor(queue: Looking) {
    this.#queue = queue;
  }

  /** A request was posted, or the last that was waited for has been settled. */
  changed(): void {
    if (this.#due) return;
    this.#due = true;
    const look = () => {
      this.#due = false;
      this.#armAndLook();
    };
    if (mustTurn()) setImmediate(look);
    else
      queueMicrotask(() => {
        process.nextTick(look);
      });
  }

  /** The queue had an event. */
  notified(): void {
    if (this.#events === undefined) return;
    this.#guard(this.#queue.look);
    this.changed();
  }

  /** Of one queue pair, or of all. */
  failAll(reason: unknown, qp?: Parameters<AwaitedRequests['failAll']>[1]): void {
    this.requests.failAll(reason, qp);
    this.restIfDone();
  }

  /** Once nobody waits any more: the sleep would else hold the queue and the process for ever. */
  restIfDone(): void {
    if (this.requests.waiting !== 0) return;
    this.#events?.leave(this);
    this.#events = undefined;
  }

  #armAndLook(): void {
    if (this.requests.waiting !== 0) {
      this.#guard(() => {
        this.#events ??= this.#queue.events();
        this.#events.enter(this);
        this.#queue.arm();
        // A completion from before the arming makes no event.
        this.#queue.look();
      });
    }
    this.restIfDone();
  }

  #guard(look: () => void): void {
    try {
      look();
    } catch (error) {
      this.failAll(error);
    }
  }
}
