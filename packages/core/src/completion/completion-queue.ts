import { errno } from '../base/errno.js';
import { check, closedError, VerbsError } from '../base/errors.js';
import { fields, u16 } from '../base/fields.js';
import { handled } from '../base/handled.js';
import { brief, flags, present } from '../base/inspection.js';
import { native, type NativeHandle } from '../base/native.js';
import {
  kAbandon,
  kArm,
  kAwait,
  kElement,
  kEvents,
  kFailed,
  kKeep,
  kFilled,
  kGiveUp,
  kNotified,
  kRecords,
  kRegister,
  kServe,
  kVacancies,
} from '../base/symbols.js';
import { boolean, integer, rangeError, typeError } from '../base/validate.js';
import { signalOf, type WaitOptions } from '../base/wait-options.js';
import { WcExFlags } from '../enums/index.js';
import { illegalConstructor, Resource } from '../lifetime/resource.js';
import type { Context, ProtectionDomain } from '../types/objects.js';
import type { AwaitedRequest } from './awaited-requests.js';
import type { CompletionBatch } from './completion-batch.js';
import type { CompletionChannel } from './completion-channel.js';
import type { CompletionServer } from './completion-loop.js';
import { checkCqe, DEFAULT_SPIN } from './cq-options.js';
import { CompletionDispatcher } from './dispatcher.js';
import { publishFailures } from './failed-completions.js';
import { Spin } from './spin.js';
import type { WorkCompletion } from './work-completion.js';

const moderated = fields({ cqCount: u16(), cqPeriod: u16() });

/**
 * `ibv_cq`: a queue of the completions of work requests. Created by {@link Context.createCq}; `close()` is
 * `ibv_destroy_cq`.
 *
 * @example
 * for await (const wc of cq) {
 *   if (!wc.ok) throw new Error(wc.statusText);
 *   console.log(wc.wrId, wc.byteLen);
 * }
 */
export class CompletionQueue extends Resource {
  /** The open device of the queue. */
  readonly context: Context;
  /** Undefined: the queue can only be polled. */
  readonly channel: CompletionChannel | undefined;
  /** See {@link WcExFlags}; undefined for a queue that is not an extended one. */
  readonly wcFlags: WcExFlags | undefined;
  #cqe: number;
  readonly #id: number;
  readonly #dispatcher: CompletionDispatcher;

  /** @internal */
  constructor(
    context: Context,
    channel: CompletionChannel | undefined,
    made: { handle: NativeHandle; id: number; cqe: number },
    extended?: { wcFlags: number; parentDomain?: ProtectionDomain | undefined },
    spin = DEFAULT_SPIN,
  ) {
    if ((made as object | undefined) === undefined) throw illegalConstructor('CompletionQueue');
    const parents = [context, channel, extended?.parentDomain].filter((parent) => parent !== undefined);
    super('CompletionQueue', made.handle, 'ibv_destroy_cq', parents);
    this.context = context;
    this.channel = channel;
    this.#cqe = made.cqe;
    this.wcFlags = extended?.wcFlags;
    const stamps = WcExFlags.COMPLETION_TIMESTAMP | WcExFlags.COMPLETION_TIMESTAMP_WALLCLOCK;
    this.#id = made.id;
    this.#dispatcher = new CompletionDispatcher({
      cq: this,
      handle: made.handle,
      spin: new Spin(spin),
      timestamps: ((this.wcFlags ?? 0) & stamps) !== 0,
      use: (syscall) => this.use(syscall),
      events: () => this.#channelFor('ibv_get_cq_event')[kEvents],
    });
    context[kElement](made.id, this);
    channel?.[kRegister](made.id, this);
  }

  /**
   * The number of entries. One completion more overflows the queue: it is lost, and polls of the queue fail once they have given
   * what it has, those for awaited requests as well.
   */
  get cqe(): number {
    return this.#cqe;
  }

  /**
   * `ibv_resize_cq`: another number of entries. The queued completions stay.
   *
   * @param cqe the least number of entries, at most `maxCqe` of `queryDevice()`
   * @throws VerbsError EINVAL (more than the device has, or fewer than wait in it), EOPNOTSUPP
   */
  resize(cqe: number): void {
    const cq = this.use('ibv_resize_cq');
    checkCqe(cqe);
    const made = native.resizeCq(cq, cqe);
    check(made, 'ibv_resize_cq', { detail: `to ${cqe} entries` });
    this.#cqe = made;
  }

  /**
   * `ibv_modify_cq`: one event for up to `cqCount` completions, or when the first of them has waited `cqPeriod`
   * microseconds; both 0 to 65535, and 0 ends it.
   *
   * @throws VerbsError EOPNOTSUPP where the device has no moderation (see `cqModCaps` of `queryDeviceEx`)
   * @example cq.modify({ cqCount: 16, cqPeriod: 50 }); // an event for 16 completions, or after 50 µs
   */
  modify(moderation: { cqCount: number; cqPeriod: number }): void {
    const cq = this.use('ibv_modify_cq');
    const { cqCount, cqPeriod } = moderated(moderation, 'moderation');
    check(-Math.abs(native.modifyCq(cq, cqCount, cqPeriod)), 'ibv_modify_cq');
  }

  /**
   * `ibv_poll_cq`; for an extended queue `ibv_start_poll`, `ibv_next_poll`, `ibv_end_poll` and the `ibv_wc_read_*` of
   * its `wcFlags`: up to `max` completions, an empty array if there are none. Never waits. Completions that
   * {@link CompletionQueue.wait} found come first; the next call returns the later ones. Fewer than `max` do not say that the queue
   * is empty: the software NIC takes in what has arrived by and by.
   *
   * @param max at least 1, default 16
   * @throws VerbsError with the library's errno if the queue is broken
   * @example for (const wc of cq.poll()) if (!wc.ok) console.log(wc.wrId, wc.statusText);
   */
  poll(max = 16): WorkCompletion[] {
    const cq = this.use('ibv_poll_cq');
    if (typeof max !== 'number' || !(max >= 1)) throw rangeError('max', 'a number of at least 1', max);
    return this.#dispatcher.poll(cq, Math.floor(max));
  }

  /**
   * `ibv_poll_cq` into a batch: as {@link CompletionQueue.poll}, up to `max` completions by one native call, without
   * allocating.
   *
   * @param max default: the batch's capacity
   * @returns the number of completions, which `batch.length` is from now on
   * @throws VerbsError with the library's errno if the queue is broken
   * @example const count = cq.pollBatch(completions);
   */
  pollBatch(batch: CompletionBatch, max?: number): number {
    const cq = this.use('ibv_poll_cq');
    const bytes = (batch as Partial<CompletionBatch> | null | undefined)?.[kRecords];
    if (bytes === undefined) throw typeError('batch', 'a CompletionBatch', batch);
    const room = max === undefined ? batch.capacity : integer(max, 'max', 1, batch.capacity);
    const count = this.#dispatcher.pollInto(cq, bytes, room);
    batch[kFilled](count);
    publishFailures(this);
    return count;
  }

  /**
   * `ibv_req_notify_cq`: one event on the channel at the next completion, or at the next solicited one.
   * {@link CompletionQueue.wait} and the async iteration do this by themselves.
   *
   * @param solicitedOnly at the next receive with SendFlags.SOLICITED, or failure; default false
   * @throws VerbsError with the library's errno
   */
  reqNotify(solicitedOnly = false): void {
    this.#dispatcher.armForProgram(boolean(solicitedOnly, 'solicitedOnly', false));
  }

  /**
   * Resolves when a completion can be polled: polls for a while (`spin` of `createCq`), arms the queue, polls once
   * more, and then sleeps on the channel. It keeps the process alive meanwhile.
   *
   * @param options `signal` ends the waiting: the promise rejects with its reason
   * @throws VerbsError EINVAL without a channel, ERR_VERBS_CLOSED when the queue is closed
   * @example
   * await cq.wait({ signal: AbortSignal.timeout(1000) });
   * const found = cq.poll();
   */
  wait(options?: WaitOptions): Promise<void> {
    return handled(this.#wait(options));
  }

  async #wait(options: WaitOptions | undefined): Promise<void> {
    await this.#dispatcher.wait(signalOf(options));
  }

  /**
   * All completions as they arrive, until the queue is closed. It yields to the event loop after 256 completions.
   *
   * @throws VerbsError EINVAL without a channel
   * @example for await (const wc of cq) console.log(wc.wrId, wc.statusName);
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<WorkCompletion, void, undefined> {
    this.#channelFor('ibv_get_cq_event');
    while (!this.closed) {
      if (this.#dispatcher.stored === 0) await this.#waitOrEnd();
      else yield this.#dispatcher.takeStored();
    }
  }

  async #waitOrEnd(): Promise<void> {
    try {
      await this.wait();
    } catch (error) {
      if (!this.closed) throw error;
    }
  }

  /** @internal Calls `take`, which polls, whenever there may be completions; for who alone uses the queue. */
  [kServe](server: CompletionServer): void {
    this.#dispatcher.serve(server);
  }

  /** @internal Awaits the completion of a request, which `post` posts with the `wrId` that it is given. */
  [kAwait](request: AwaitedRequest, post: (wrId: bigint) => void): Promise<WorkCompletion> {
    return this.#dispatcher.awaitRequest(request, post);
  }

  /** @internal Rejects the promise of the request with that `wrId`; the request itself goes on. */
  [kGiveUp](wrId: bigint, reason: unknown): void {
    this.#dispatcher.giveUp(wrId, reason);
  }

  /** @internal Whether a receive request may take the place of one that was given up. */
  get [kVacancies](): boolean {
    return this.#dispatcher.vacancies;
  }

  /** @internal The queue pair is closed, or was reset: its posted requests do not complete any more. */
  [kAbandon](qp: Resource, reason: VerbsError): void {
    this.#dispatcher.abandon(qp, reason);
  }

  /** @internal Takes what has completed off the queue, for the polls to come. */
  [kKeep](): void {
    if (!this.closed) this.#dispatcher.keep(this.#cqe);
  }

  #channelFor(syscall: string): CompletionChannel {
    if (this.channel !== undefined) return this.channel;
    throw new VerbsError(errno.EINVAL, syscall, {
      hint: 'this queue has no completion channel: create it without `channel: null`',
    });
  }

  /** @internal */
  [kNotified](): void {
    this.#dispatcher.notified();
  }

  /** @internal No event of its channel comes any more. */
  [kFailed](error: Error): void {
    this.#dispatcher.failAll(error);
  }

  /** @internal Whether what is awaited has completed; if not, it raises an event. */
  [kArm](): boolean {
    return this.#dispatcher.armForWaits();
  }

  protected override onClosed(): void {
    this.context[kElement](this.#id, undefined);
    this.channel?.[kRegister](this.#id, undefined);
    const error = closedError('CompletionQueue', 'ibv_get_cq_event');
    this.#dispatcher.failAll(error);
  }

  protected override describe() {
    const wcFlags = this.wcFlags === undefined ? undefined : flags(WcExFlags, this.wcFlags);
    return present({
      cqe: this.cqe,
      wcFlags,
      channel: this.channel && brief(this.channel),
      context: brief(this.context),
    });
  }
}
