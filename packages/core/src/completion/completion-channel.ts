import { VerbsError } from '../base/errors.js';
import { FdEvents } from '../base/fd-events.js';
import { brief, present } from '../base/inspection.js';
import { native, type NativeHandle } from '../base/native.js';
import { kArm, kEvents, kFailed, kNotified, kRegister } from '../base/symbols.js';
import { typeError } from '../base/validate.js';
import { Resource } from '../lifetime/resource.js';
import { WeakTable } from '../lifetime/weak-table.js';
import type { CompletionQueue, Context } from '../types/objects.js';

interface Notifiable {
  [kNotified](): void;
  [kArm](): boolean;
  [kFailed](error: Error): void;
}

/** Events that are taken before the event loop runs its other callbacks. */
const EVENTS_PER_YIELD = 256;

/**
 * `ibv_comp_channel`: reports the events of completion queues on Node's event loop. Created by
 * {@link Context.createCompChannel}; `close()` is `ibv_destroy_comp_channel`. Several queues may share one.
 */
export class CompletionChannel extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  readonly #queues = new WeakTable<Notifiable>();
  readonly #events: FdEvents;
  #drained = false;
  /** Queues with completions from before the program began to take the events. */
  #found: Notifiable[] = [];

  /** @internal */
  constructor(context: Context, handle: NativeHandle) {
    super('CompletionChannel', handle, 'ibv_destroy_comp_channel', [context]);
    this.context = context;
    const weak = new WeakRef(this);
    this.#events = new FdEvents({
      watch: (callback) => native.watchChannel(handle, callback),
      ref: (alive) => {
        if (weak.deref()?.closed === false) native.refChannel(handle, alive);
      },
      drain: () => {
        const channel = weak.deref();
        if (channel !== undefined) channel.#drain();
      },
      syscall: 'ibv_get_cq_event',
    });
  }

  /**
   * The descriptor, readable while events wait. A program that polls it takes them by
   * {@link CompletionChannel.getCqEvent}. From then on waits for its queues arm them at once, and do not poll before.
   */
  get fd(): number {
    const handle = this.use('ibv_comp_channel.fd');
    this.#takenByProgram();
    return native.channelFd(handle);
  }

  /**
   * `ibv_get_cq_event` and `ibv_ack_cq_events`, without blocking: a queue with an event, or undefined if there is none.
   * `cq.wait()` and `for await (… of cq)` do this by themselves. Since the program may block until it has an event,
   * waits for the channel's queues arm them at once from then on, and do not poll before.
   *
   * @throws VerbsError with the library's errno if the descriptor cannot be read
   * @example
   * const channel = ctx.createCompChannel();
   * const cq = ctx.createCq(64, { channel });
   * cq.reqNotify();
   * // When channel.fd is readable:
   * if (channel.getCqEvent() === cq) console.log(cq.poll());
   */
  getCqEvent(): CompletionQueue | undefined {
    this.#takenByProgram();
    const id = this.#next();
    if (id === undefined) return this.#found.shift() as CompletionQueue | undefined;
    const queue = this.#queues.get(id);
    // Promises that wait for the queue get no event of their own.
    queue?.[kNotified]();
    return queue as CompletionQueue | undefined;
  }

  /** What is awaited already raises events, too. A completion that came before raises none: its queue is kept. */
  #takenByProgram(): void {
    if (this.#events.taken) return;
    this.#events.taken = true;
    this.#found = this.#queues.values().filter((queue) => queue[kArm]());
  }

  #next(): number | undefined {
    const id = native.getCqEvent(this.use('ibv_get_cq_event'));
    if (id >= 0) return id;
    if (native.errnoName(-id) === 'EAGAIN') return undefined;
    throw new VerbsError(id, 'ibv_get_cq_event');
  }

  /** There is no caller to throw to: those who wait get the error. */
  #nextForWaits(): number | undefined {
    try {
      return this.#next();
    } catch (error) {
      this.#events.failed(error as Error);
      for (const queue of this.#queues.values()) queue[kFailed](error as Error);
      return undefined;
    }
  }

  #drain(): void {
    for (let count = 0; count < EVENTS_PER_YIELD && !this.closed; count++) {
      const id = this.#nextForWaits();
      if (id === undefined) {
        this.#drained = true;
        return;
      }
      this.#queues.get(id)?.[kNotified]();
      // A queue has at most one event until it is armed again, so another read would be a wasted system call. If there
      // is an event all the same, the descriptor stays readable. The first time reads until nothing is left: that tells
      // the software NIC that this reader copes with a wake-up without an event, and its packets wake this loop
      // directly.
      if (this.#queues.size <= 1 && this.#drained) return;
    }
  }

  /** @internal */
  get [kEvents](): FdEvents {
    return this.#events;
  }

  /** @internal */
  [kRegister](id: number, queue: Notifiable | undefined): void {
    if (queue === undefined) this.#queues.delete(id);
    else if (typeof (queue as Partial<Notifiable>)[kNotified] !== 'function')
      throw typeError('queue', 'a CompletionQueue', queue);
    else this.#queues.set(id, queue);
  }

  protected override onClosed(): void {
    this.#found = [];
    this.#events.closed();
  }

  protected override describe() {
    const fd = this.closed ? undefined : native.channelFd(this.use('ibv_comp_channel.fd'));
    return present({ fd, context: brief(this.context) });
  }
}
