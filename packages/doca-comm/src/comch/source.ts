import type { EventSource } from '../base/end.js';
import { checked, DocaStatus } from '../base/errors.js';
import type { Engine } from './engine.js';

/** What waits for events of the context, as the Comm Channel's descriptors are waited for. */
export class Source implements EventSource {
  /** The engine sees to that. */
  readonly loses = false;
  readonly #engine: () => Engine | undefined;
  /** Who sleeps here waits for the completion of tasks. */
  readonly #completions: boolean;
  #callback: (() => void) | undefined;
  #asleep: Engine | undefined;
  #held = false;

  constructor(engine: () => Engine | undefined, completions = false) {
    this.#engine = engine;
    this.#completions = completions;
  }

  watch(callback: () => void): void {
    checked(this.#engine() === undefined ? -DocaStatus.NOT_CONNECTED : 0, 'doca_pe_get_notification_handle');
    this.#callback = callback;
  }
  arm(): void {
    const engine = this.#engine();
    if (engine === undefined) return;
    if (!this.#held) engine.hold(this);
    this.#held = true;
    if (this.#asleep !== undefined) return;
    this.#asleep = engine;
    if (this.#completions) engine.expect();
    engine.sleep();
  }
  rest(): void {
    if (this.#held) this.#asleep?.release(this);
    this.#held = false;
  }
  disarm(): void {
    this.rest();
    if (this.#completions) this.#asleep?.unexpect();
    this.#asleep?.wake();
    this.#asleep = undefined;
  }
  /** There are events. */
  call(): void {
    if (this.#asleep === undefined) return;
    this.disarm();
    this.#callback?.();
  }
  /** Resolves at the next events, or after so many milliseconds. */
  next(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#callback = () => {
        clearTimeout(timer);
        resolve();
      };
      this.arm();
    });
  }
}
