import { VerbsError } from '../base/errors.js';
import { FdEvents } from '../base/fd-events.js';
import { brief, present } from '../base/inspection.js';
import { native, type NativeHandle } from '../base/native.js';
import { kEvents, kNotified, kRegister } from '../base/symbols.js';
import { typeError } from '../base/validate.js';
import type { Context } from '../device/context.js';
import { Resource } from '../lifetime/resource.js';
import { WeakTable } from '../lifetime/weak-table.js';
import type { CompletionQueue } from './completion-queue.js';

interface Notifiable {
  [kNotified](): void;
}

/** So many events a turn of the loop; more wait for the next, so that other callbacks get theirs. */
const EVENTS_PER_TURN = 256;

/**
 * `ibv_comp_channel`: tells when completion queues have something, on Node's loop. Made by
 * {@link Context.createCompChannel}; `close()` is `ibv_destroy_comp_channel`. Several queues may share one.
 */
export class CompletionChannel extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  readonly #queues = new WeakTable<Notifiable>();
  readonly #events: FdEvents;
  #drained = false;

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

  /** The descriptor, readable while events wait. Whoever polls it takes them by {@link CompletionChannel.getCqEvent}. */
  get fd(): number {
    return native.channelFd(this.use('ibv_comp_channel.fd'));
  }

  /**
   * `ibv_get_cq_event` and `ibv_ack_cq_events`, without blocking: a queue with an event, or undefined if there is none.
   * `cq.wait()` and `for await (… of cq)` do this by themselves.
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
    const id = this.#next();
    if (id === undefined) return undefined;
    const queue = this.#queues.get(id);
    // Promises that sleep on it get no event of their own.
    queue?.[kNotified]();
    return queue as CompletionQueue | undefined;
  }

  #next(): number | undefined {
    const id = native.getCqEvent(this.use('ibv_get_cq_event'));
    if (id >= 0) return id;
    if (native.errnoName(-id) === 'EAGAIN') return undefined;
    throw new VerbsError(id, 'ibv_get_cq_event');
  }

  #drain(): void {
    for (let count = 0; count < EVENTS_PER_TURN && !this.closed; count++) {
      const id = this.#next();
      if (id === undefined) {
        this.#drained = true;
        return;
      }
      this.#queues.get(id)?.[kNotified]();
      // A queue has one event at most until it is armed again; asking for more would be a system call in vain. And if
      // there is one all the same, the descriptor stays readable. But once it is asked: the software NIC learns by it
      // that finding none is no fault here, and lets its packets wake this loop without a thread between.
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
    this.#events.closed();
  }

  protected override describe() {
    const fd = this.closed ? undefined : this.fd;
    return present({ fd, context: brief(this.context) });
  }
}
