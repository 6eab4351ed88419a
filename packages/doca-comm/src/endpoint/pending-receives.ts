import type { EventChannel } from '../base/event-channel.js';
import { Channel } from '../base/native.js';
import { waitingFor, type Settler, type Waiting } from '../base/waiting.js';

/** The calls of `receive()` that wait, in their order. */
export class PendingReceives {
  readonly #open: (channel: number) => EventChannel;
  #channel: EventChannel | undefined;
  readonly #waiting = new Set<Waiting>();

  /** `open` makes an event channel of the endpoint. */
  constructor(open: (channel: number) => EventChannel) {
    this.#open = open;
  }

  /** Whether some wait already, so that the next one must wait behind them. */
  get any(): boolean {
    return this.#events().waiting;
  }

  /** `attempt` returns undefined while there is no message. */
  add<T>(attempt: () => T | undefined, settler: Settler<T>): void {
    const channel = this.#events();
    // A message that comes after the first one has looked is the first one's still.
    const inTurn = (): T | undefined => (this.#waiting.values().next().value === waiting ? attempt() : undefined);
    const waiting = waitingFor(inTurn, settler, () => {
      this.#waiting.delete(waiting);
      channel.leave(waiting);
    });
    this.#waiting.add(waiting);
    channel.wait(waiting);
  }

  /** Tries again, after a change that raises no event. */
  retry(): void {
    this.#channel?.retry();
  }

  /** Rejects all of them. */
  close(reason: unknown): void {
    this.#channel?.close();
    for (const waiting of [...this.#waiting]) waiting.fail(reason);
  }

  #events(): EventChannel {
    return (this.#channel ??= this.#open(Channel.RECV));
  }
}
