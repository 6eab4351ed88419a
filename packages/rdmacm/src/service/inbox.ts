import { closedError, WakeList } from '@verbs/core/provider';
import { kEvents, kResume, kWatcher } from '../base/symbols.js';
import type { CmEvent } from '../cm/cm-event.js';
import type { CmId, CmWatcher } from '../cm/cm-id.js';
import { failureOf } from './errors.js';

/** Events that change nothing for who waits for another one. */
const PASSING: ReadonlySet<CmEvent['name']> = new Set(['ADDR_CHANGE', 'TIMEWAIT_EXIT']);

/** The events of one identifier of a shared channel, in their order. */
export class Inbox implements CmWatcher {
  readonly id: CmId;
  readonly #list = new WakeList();
  #events: CmEvent[] = [];
  #listener: ((event: CmEvent) => void) | undefined;
  #whenClosed: (() => void) | undefined;

  constructor(id: CmId) {
    this.id = id;
    id[kWatcher] = this;
  }

  onEvent(event: CmEvent): void {
    // Who waits runs later; a program's listener, which runs now, may throw.
    this.#list.wakeAll();
    if (this.#listener === undefined) this.#events.push(event);
    else this.#listener(event);
  }

  onFailure(error: unknown): void {
    this.#list.failAll(error);
  }

  onClosed(): void {
    this.#list.wakeAll();
    this.#whenClosed?.();
  }

  /** From now on events go to a function, also those that wait here. */
  deliver(listener: (event: CmEvent) => void, whenClosed: () => void): void {
    this.#listener = listener;
    this.#whenClosed = whenClosed;
    for (const event of this.#events.splice(0)) listener(event);
  }

  /** Sleeps until something happens to the identifier. It keeps the process alive meanwhile. */
  async sleep(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.id.closed) throw closedError('CmId', 'rdma_get_cm_event');
    const { channel } = this.id;
    channel[kResume]();
    await this.#list.sleep(channel[kEvents], this, signal);
  }

  /** Whether an event waits here that ends what the identifier is for. */
  get over(): boolean {
    return this.#events.some(({ name }) => !PASSING.has(name));
  }

  async next(signal: AbortSignal | undefined): Promise<CmEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) return event;
      await this.sleep(signal);
    }
  }

  /** The event of that name. Any other one that matters is an error. */
  async expect(
    name: CmEvent['name'],
    about: { signal: AbortSignal; syscall: string; detail: string; hint?: () => string | undefined },
  ): Promise<CmEvent> {
    for (;;) {
      const event = await this.next(about.signal);
      if (event.name === name) return event;
      if (!PASSING.has(event.name)) throw failureOf(event, about.syscall, about.detail, about.hint?.());
    }
  }
}
