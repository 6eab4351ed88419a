import { onAbort } from './abort.js';
import type { FdEvents } from './fd-events.js';

interface Sleeper {
  wake: () => void;
  fail: (reason: unknown) => void;
}

/** The promises that wait for one object's next event. */
export class WakeList {
  readonly #sleepers = new Set<Sleeper>();

  /** Resolves at the next `wakeAll`; `events` keeps its descriptor watched, and `owner` reachable, until then. */
  sleep(events: FdEvents, owner: object, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (act: () => void) => {
        ended?.();
        this.#sleepers.delete(sleeper);
        if (this.#sleepers.size === 0) events.leave(owner);
        act();
      };
      const sleeper: Sleeper = {
        wake: () => {
          finish(resolve);
        },
        fail: (reason) => {
          finish(() => {
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- an AbortSignal's reason may be anything
            reject(reason);
          });
        },
      };
      events.enter(owner);
      this.#sleepers.add(sleeper);
      const ended =
        signal &&
        onAbort(signal, () => {
          sleeper.fail(signal.reason);
        });
    });
  }

  /** Resolves all promises. */
  wakeAll(): void {
    for (const sleeper of [...this.#sleepers]) sleeper.wake();
  }

  /** Rejects all promises. */
  failAll(reason: unknown): void {
    for (const sleeper of [...this.#sleepers]) sleeper.fail(reason);
  }
}
