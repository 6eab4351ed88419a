import type { WaitOptions } from '@verbs/core';
import { DEFAULT_SPIN, Spin } from '@verbs/core/provider';
import { liveSignalOf } from '../base/arguments.js';
import { checked, DocaError, DocaStatus } from '../base/errors.js';
import { EventChannel } from '../base/event-channel.js';
import { type CreatedContext, native } from '../base/native.js';
import { waitingFor } from '../base/waiting.js';
import type { Engine, EngineUser } from './engine.js';
import { EventKind, isIdle } from './events.js';
import { Source } from './source.js';
import type { TurnQueue } from './turn-queue.js';

/** Calls of `doca_pe_progress` by one attempt, and milliseconds for the end of a context. */
const AT_ONCE = 16;
const FAREWELL = 1500;
const COOKIES = 2 ** 32;

/** An event as {@link ComchContext} takes it. `bytes` is valid until the next one is taken. */
export interface TakenEvent {
  kind: number;
  connection: number;
  number: number;
  cookie: number;
  extra: number;
  bytes: Uint8Array;
}

/** A context of DOCA (`doca_ctx`) with an engine: how it waits, how its tasks are settled, and how it ends. */
export abstract class ComchContext implements EngineUser, Disposable, AsyncDisposable {
  /** @internal */
  readonly engine: Engine;
  /** @internal */
  readonly created: CreatedContext;
  readonly #source: Source;
  readonly #channel: EventChannel;
  readonly #record = new Uint32Array(5);
  #slab = new Uint8Array(4096);
  #cookie = 0;
  /** The tasks that somebody waits for: undefined while they are under way. */
  readonly #results = new Map<number, number | undefined>();
  #closed: Promise<void> | undefined;
  #ended = false;
  /** Events may be there that were not taken for lack of room: nothing wakes those who wait for them. */
  #holdsBack = false;
  #retries = false;

  /** @internal */
  constructor(engine: Engine, created: CreatedContext) {
    this.engine = engine;
    this.created = created;
    this.#source = new Source(() => engine);
    this.#channel = new EventChannel(this.#source, new Spin(DEFAULT_SPIN));
  }

  /** True after `close()`. */
  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** Makes progress once, without waiting: what has come can be taken by the polled calls. Whether there was something. */
  progress(): boolean {
    const happened = this.engine.progress(AT_ONCE);
    this.drain();
    return happened;
  }

  /**
   * Stops and destroys it, and what was made from it. Blocks until it is idle, 1.5 seconds at most; `closeAsync` does not. One
   * that `closeAsync` is closing is closed at once.
   */
  close(): void {
    if (this.#ended) return;
    this.#closed ??= Promise.resolve();
    this.closeChildren();
    this.engine.block(() => this.isSettled(), FAREWELL);
    this.#stop();
    this.engine.block(() => isIdle(this.created.handle), FAREWELL);
    this.#end();
  }

  /** `close` without blocking the event loop. Resolves when everything is freed. */
  closeAsync(): Promise<void> {
    return (this.#closed ??= this.#closeInBackground());
  }

  /** `using` closes it at the end of its block. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** `await using` closes it at the end of its block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.closeAsync();
  }

  /** @internal */
  onEvents(): void {
    this.#source.call();
  }

  /** Takes the events, as long as there is room for what they bring. */
  protected drain(): void {
    if (this.#ended) return;
    const { handle } = this.created;
    const heldBack = this.#holdsBack;
    let taken = 0;
    for (;;) {
      this.#holdsBack = this.isFull();
      if (this.#holdsBack) break;
      const kind = native.takeEvent(handle, this.#record, this.#slab);
      const [connection = 0, number = 0, cookie = 0, extra = 0, length = 0] = this.#record;
      if (kind >= EventKind.TOO_LONG) this.#slab = new Uint8Array(length);
      else if (kind <= 0) break;
      else if (kind === EventKind.SENT && cookie !== 0) this.#settle(cookie, number);
      else this.take({ kind, connection, number, cookie, extra, bytes: this.#slab.subarray(0, length) });
      if (kind > 0 && kind < EventKind.TOO_LONG) taken++;
    }
    if (taken === 0) return;
    this.engine.resume();
    if (heldBack) this.retry();
  }
  /** Something that was taken is the program's now: there may be room for what was held back. */
  protected madeRoom(): void {
    if (this.#holdsBack && !this.isFull()) this.retry();
  }
  /** Those who wait look again soon, after a change that raises no event. */
  protected retry(): void {
    if (this.#retries || !this.#channel.waiting) return;
    this.#retries = true;
    setImmediate(() => {
      this.#retries = false;
      this.#channel.retry();
    });
  }
  protected abstract take(event: TakenEvent): void;
  protected isFull(): boolean {
    return false;
  }
  /** Somebody waits for the completion of a task. */
  protected get awaitsTask(): boolean {
    return this.#results.size > 0;
  }
  /** What was sent has left. */
  protected isSettled(): boolean {
    return true;
  }
  protected closeChildren(): void {
    return;
  }
  /** It is idle, and will be destroyed. */
  protected ending(): void {
    return;
  }
  protected ended(): void {
    return;
  }
  protected async closeChildrenAsync(): Promise<void> {
    return Promise.resolve();
  }

  /**
   * Resolves with the first result of `attempt`, which is made now and whenever something has happened. It rejects also for
   * wrong arguments, as every call does that gives a promise.
   *
   * @throws DocaError NOT_CONNECTED when it is closed; what `attempt` throws; the signal's reason
   */
  protected wait<T>(attempt: () => T | undefined, options: WaitOptions | undefined, syscall: string): Promise<T> {
    const tries = (): T | undefined => {
      const found = attempt();
      if (found !== undefined) return found;
      if (this.#ended) throw new DocaError(DocaStatus.NOT_CONNECTED, syscall, 'it was closed');
      this.progress();
      return attempt();
    };
    return new Promise((resolve, reject) => {
      const signal = liveSignalOf(options);
      const waiting = waitingFor(tries, { resolve, reject, signal }, () => {
        this.#channel.leave(waiting);
      });
      if (!waiting.attempt()) this.#channel.wait(waiting);
    });
  }

  /** The same where several wait for the same things, which come to them in the order of the calls. */
  protected async waitInTurn<T>(
    attempt: () => T | undefined,
    queue: TurnQueue,
    options: WaitOptions | undefined,
    syscall: string,
  ): Promise<T> {
    const turn = queue.enter();
    const inTurn = () => {
      if (!queue.isTurnOf(turn)) return undefined;
      let result: T | undefined;
      let fails = true;
      try {
        result = attempt();
        fails = false;
        return result;
      } finally {
        // Before the next one looks, which may be at once.
        if (fails || result !== undefined) queue.leave(turn);
      }
    };
    try {
      return await this.wait(inTurn, options, syscall);
    } finally {
      // Who gives up makes way.
      if (queue.leave(turn)) this.retry();
    }
  }

  /** The number of a task whose result somebody will want. */
  protected nextCookie(): number {
    this.#cookie = (this.#cookie + 1) % COOKIES || 1;
    return this.#cookie;
  }

  /**
   * Submits a task, as soon as there is room for it, and waits for its completion. `submission` checks the arguments, and
   * gives the function that submits, whose result is as in the addon.
   */
  protected async complete(
    submission: () => (cookie: number) => number,
    queue: TurnQueue,
    options: WaitOptions | undefined,
    syscall: string,
  ): Promise<void> {
    const submit = submission();
    const cookie = this.nextCookie();
    const turn = queue.enter();
    this.#results.set(cookie, undefined);
    this.engine.expect();
    try {
      try {
        const attempt = () =>
          (queue.isTurnOf(turn) && submitted(submit(cookie), syscall) && queue.leave(turn)) || undefined;
        await this.wait(attempt, options, syscall);
      } finally {
        // Who gives up makes way.
        if (queue.leave(turn)) this.retry();
      }
      await this.wait(
        () => {
          const status = this.#results.get(cookie);
          if (status !== undefined && status !== DocaStatus.SUCCESS)
            throw new DocaError(status, syscall, whyFailed(status));
          return status === undefined ? undefined : true;
        },
        options,
        syscall,
      );
    } finally {
      this.engine.unexpect();
      this.#results.delete(cookie);
    }
  }

  #settle(cookie: number, status: number): void {
    if (this.#results.has(cookie)) this.#results.set(cookie, status);
  }

  #stop(): void {
    if (!isIdle(this.created.handle)) native.stopContext(this.created.handle);
  }
  async #closeInBackground(): Promise<void> {
    const { handle } = this.created;
    const until = (done: () => boolean) =>
      this.wait(() => done() || undefined, { signal: AbortSignal.timeout(FAREWELL) }, 'doca_ctx_stop').catch(
        () => undefined,
      );
    await this.closeChildrenAsync();
    this.engine.expect();
    await until(() => this.isSettled());
    this.#stop();
    await until(() => isIdle(handle));
    this.engine.unexpect();
    this.#end();
  }
  #end(): void {
    if (this.#ended) return;
    this.drain();
    this.#ended = true;
    const { handle, id } = this.created;
    this.ending();
    if (native.destroyContext(handle) < 0) native.abandonContext(handle);
    this.engine.remove(id);
    this.ended();
    // What waits finds that it is closed.
    this.#channel.retry();
    this.#channel.close();
    this.#source.disarm();
  }
}

const reasons: Record<number, string> = {
  [DocaStatus.TOO_BIG]: 'the message is longer than the buffer that the consumer has posted',
  [DocaStatus.INVALID_VALUE]: 'the message, or its immediate data, is longer than the other end takes',
};
const whyFailed = (status: number) => reasons[status] ?? 'the task has failed; the peer may be gone';

/** Whether a task was submitted: false if there is no room. @throws DocaError for other failures */
export function submitted(status: number, syscall: string): boolean {
  if (status === -DocaStatus.AGAIN || status === -DocaStatus.NO_MEMORY) return false;
  checked(status, syscall, status === -DocaStatus.NOT_CONNECTED ? 'the connection has ended' : undefined);
  return true;
}
