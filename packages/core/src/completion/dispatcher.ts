import { setImmediate as yieldToLoop } from 'node:timers/promises';
import { check, closedError, VerbsError } from '../base/errors.js';
import type { FdEvents } from '../base/fd-events.js';
import { native, type NativeHandle } from '../base/native.js';
import { COMPLETION } from '../base/records.js';
import { WakeList } from '../base/wake-list.js';
import type { Resource } from '../lifetime/resource.js';
import type { CompletionQueue } from '../types/objects.js';
import { type AwaitedRequest, AwaitedRequests, arrivedMessage } from './awaited-requests.js';
import { budgetSpent, spend } from './budget.js';
import { CompletionLoop, type CompletionServer, POLLS_PER_TURN } from './completion-loop.js';
import { collectFailure, collectFailures, failuresObserved, publishFailures } from './failed-completions.js';
import { PolledCompletions } from './polled-completions.js';
import type { Spin } from './spin.js';
import { WorkCompletion } from './work-completion.js';

const CHUNK = 64;
/** Polls for awaited requests before the event loop runs its other callbacks. */
const CHUNKS_PER_YIELD = 16;

// Nothing of the program's runs between a poll and the decoding, so one buffer serves all queues.
const records = new Uint8Array(CHUNK * COMPLETION.BYTES);
const view = new DataView(records.buffer);

/** What the dispatcher needs of its completion queue. */
export interface DispatchedQueue {
  /** The queue itself: it stays reachable while `wait()` sleeps, and messages name it. */
  cq: CompletionQueue;
  /** Its native handle, also after `close()`. */
  handle: NativeHandle;
  /** Whether its waits poll before they sleep. */
  spin: Spin;
  /** Whether its completions have timestamps. */
  timestamps: boolean;
  /** The native handle of the open queue; throws for a closed one. */
  use: (syscall: string) => NativeHandle;
  /** The events of its channel; throws if it has none. */
  events: () => FdEvents;
}

/**
 * The way of all completions of one queue, from the library to the program.
 *
 * A completion whose request is awaited settles that request's promise; any other one goes to the call that polls, or
 * into a store that the next poll empties first. While no request is awaited, polls read from the library directly. The
 * channel drives the promises: after a request was posted, the dispatcher lets the running code and the reactions of
 * settled promises end, polls in some turns of the event loop (see Spin), arms the queue, and polls once more for all
 * requests that were posted meanwhile. Then it sleeps on the channel's descriptor, which holds the queue and the process,
 * as long as a promise waits. `wait()` does the same. After 256 completions both yield to the event loop. Failed completions are published at the end of the
 * call that polled them, if a program subscribes to them.
 */
export class CompletionDispatcher {
  readonly #queue: DispatchedQueue;
  readonly #awaited = new AwaitedRequests(() => {
    this.#restIfDone();
  });
  readonly #stored = new PolledCompletions();
  /** The calls of `wait()`. */
  readonly #sleepers = new WakeList();
  /** Where the awaited requests sleep. */
  #events: FdEvents | undefined;
  /** A poll for awaited requests is scheduled. */
  #scheduled = false;
  /** The awaited requests are polled for a while before they sleep. */
  #spinning = false;
  /** The calls of `wait()` that are not settled. */
  #waits = 0;
  /** The last `wait()` found nothing and slept. */
  #slept = false;
  /** The program armed the queue: a completion that the next poll does not find must raise an event later. */
  #armed = false;

  constructor(queue: DispatchedQueue) {
    this.#queue = queue;
  }

  /** Completions in the store. */
  get stored(): number {
    return this.#stored.count;
  }

  /** Takes the oldest completion from the store. There must be one. */
  takeStored(): WorkCompletion {
    return this.#stored.next(this.#queue.timestamps);
  }

  /** Up to `max` completions. `handle` is that of the open queue. */
  poll(handle: NativeHandle, max: number): WorkCompletion[] {
    const { cq, timestamps } = this.#queue;
    const result: WorkCompletion[] = [];
    this.#settle();
    while (result.length < max && this.#stored.count !== 0) result.push(this.#stored.next(timestamps));
    while (result.length < max && this.#pollsFurther(result.length)) {
      const wanted = Math.min(max - result.length, CHUNK);
      const found = native.poll(handle, records, wanted);
      // Completions from before an error must not be lost; the next call finds the error again.
      if (found < 0 && result.length === 0) throw new VerbsError(found, 'ibv_poll_cq');
      if (found > 0 && failuresObserved()) collectFailures(view, found, timestamps);
      for (let i = 0; i < found; i++) result.push(new WorkCompletion(view, i * COMPLETION.BYTES, timestamps));
      if (found < wanted) break;
    }
    publishFailures(cq);
    return result;
  }

  /** Up to `max` completions as records, into `bytes`. Returns their number; the caller publishes failures. */
  pollInto(handle: NativeHandle, bytes: Uint8Array, max: number): number {
    const { timestamps } = this.#queue;
    this.#settle();
    let count = this.#stored.count === 0 ? 0 : this.#stored.moveTo(bytes, max);
    if (count < max && this.#pollsFurther(count)) {
      const rest = count === 0 ? bytes : bytes.subarray(count * COMPLETION.BYTES);
      const found = native.poll(handle, rest, max - count);
      if (found < 0 && count === 0) throw new VerbsError(found, 'ibv_poll_cq');
      if (found > 0 && failuresObserved()) {
        collectFailures(new DataView(rest.buffer, rest.byteOffset), found, timestamps);
      }
      count += Math.max(found, 0);
    }
    return count;
  }

  /** Whether a poll that took `count` completions from the store asks the library as well. */
  #pollsFurther(count: number): boolean {
    // A poll that finds nothing costs a system call on some devices, and makes the software NIC send the
    // acknowledgement that could go with the program's own packet. So a poll gives the completions that wait() found,
    // and no others.
    return !this.#awaited.expecting && (count === 0 || this.#armed);
  }

  /** Asks for one event at the next completion, for the program. */
  armForProgram(solicitedOnly: boolean): void {
    this.#arm(solicitedOnly);
    this.#armed = true;
  }

  #arm(solicitedOnly: boolean): void {
    const handle = this.#queue.use('ibv_req_notify_cq');
    check(-Math.abs(native.reqNotify(handle, solicitedOnly)), 'ibv_req_notify_cq');
  }

  /** Resolves when a completion is stored. */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    this.#waits++;
    try {
      await this.#storeSome(signal);
    } finally {
      this.#waits--;
    }
    this.#armed = false;
    spend(this.#stored.count);
  }

  async #storeSome(signal: AbortSignal | undefined): Promise<void> {
    if (budgetSpent()) await yieldToLoop();
    // A poll costs a system call on some devices, and after a wait that slept it mostly finds nothing.
    let poll = !this.#slept || this.#stored.count !== 0;
    for (;;) {
      signal?.throwIfAborted();
      if (poll && this.#findsSome()) break;
      const events = this.#queue.events();
      if (!events.taken && this.#queue.spin.begins()) {
        if (await this.#findsSoon(signal)) break;
        // Others ran meanwhile: who aborts or closes now, finds no sleeper yet.
        this.#mayWait(signal);
      }
      this.#arm(false);
      // A completion between the poll and the arming raises no event.
      this.#slept = !this.#findsSome();
      if (!this.#slept) break;
      await this.#sleepers.sleep(events, this.#queue.cq, signal);
      poll = true;
    }
  }

  /** Calls `server.take` whenever there may be completions, until the queue is closed. The program's waits go on beside it. */
  serve({ take, ended }: CompletionServer): void {
    const { cq, spin, events } = this.#queue;
    const over = () => {
      this.#waits--;
    };
    const loop = new CompletionLoop(
      {
        spin,
        events,
        arm: () => {
          this.#arm(false);
        },
        sleep: () => this.#sleepers.sleep(events(), cq, undefined),
      },
      {
        take: () => {
          const found = take();
          if (found === undefined) over();
          return found;
        },
        ended: (error) => {
          over();
          ended(error);
        },
      },
    );
    this.#waits++;
    loop.turn();
  }

  /** Polls for a while, in turns of the event loop. Whether a completion is stored. */
  async #findsSoon(signal: AbortSignal | undefined): Promise<boolean> {
    const { spin } = this.#queue;
    for (;;) {
      for (let polls = 0; polls < POLLS_PER_TURN; polls++) {
        if (!this.#findsSome()) continue;
        spin.succeeds();
        return true;
      }
      if (!spin.goesOn()) return false;
      await yieldToLoop();
      this.#mayWait(signal);
    }
  }

  /**
   * The program takes the events itself, and may block for one in this turn of the loop: what polls before it sleeps, or
   * is about to, raises an event from now on. Returns whether something has completed that raises none.
   */
  armForWaits(): boolean {
    const { waiting } = this.#awaited;
    if (this.#waits === 0 && waiting === 0) return false;
    try {
      this.#arm(false);
      return this.#findsSome() || this.#awaited.waiting !== waiting;
    } catch {
      return true; // of a broken queue: whoever waits meets the error at the next poll
    }
  }

  #mayWait(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#queue.cq.closed) throw closedError('CompletionQueue', 'ibv_get_cq_event');
  }

  /** Whether a receive request may find a place that another one left: then it needs its elements. */
  get vacancies(): boolean {
    return this.#awaited.vacancies;
  }

  /**
   * Awaits the completion of a request, which `post` posts with the `wrId` that it is given. A receive request takes the
   * place of one that was given up, if there is one, and is not posted.
   */
  awaitRequest(request: AwaitedRequest, post: (wrId: bigint) => void): Promise<WorkCompletion> {
    request.signal?.throwIfAborted();
    // The program may block for the event of this request in this turn of the loop.
    if (this.#queue.events().taken) this.#arm(false);
    const { qp, elements } = request;
    const taken = elements && this.#awaited.vacancies ? this.#awaited.takeVacant(qp, elements) : undefined;
    if (taken?.record !== undefined) {
      return Promise.resolve(arrivedMessage(taken, request, this.#queue.timestamps));
    }
    const { id, promise } = this.#awaited.add(request, taken);
    if (taken === undefined) this.#post(id, promise, post);
    this.#schedule();
    return promise;
  }

  #post(id: bigint, promise: Promise<WorkCompletion>, post: (wrId: bigint) => void): void {
    try {
      post(id);
    } catch (error) {
      this.#awaited.forget(id);
      // A getter in the request may have closed the queue, which rejected this promise. The program never gets it.
      promise.catch(() => undefined);
      throw error;
    }
  }

  /** Rejects the promise of a request, which itself goes on. */
  giveUp(id: bigint, reason: unknown): void {
    this.#awaited.giveUp(id, reason);
  }

  /** The requests of that queue pair do not complete any more: it is closed, or was reset. */
  abandon(qp: Resource, reason: VerbsError): void {
    const { cq, handle } = this.#queue;
    // Some of them may have completed: those completions wait in the queue.
    if (this.#awaited.expecting && native.isOpen(handle)) this.#dispatch(handle);
    this.#failAwaited(reason, qp);
    publishFailures(cq);
  }

  /** Settles what has completed, and stores the other completions: until the store has `most`, or nothing is left. */
  keep(most: number): void {
    const { cq, handle } = this.#queue;
    if (native.isOpen(handle)) this.#dispatch(handle, Math.ceil((most - this.#stored.count) / CHUNK));
    publishFailures(cq);
  }

  /** The queue had an event. */
  notified(): void {
    if (this.#events !== undefined) {
      this.#guard(() => {
        this.#settle();
      });
      this.#schedule();
    }
    this.#sleepers.wakeAll();
  }

  /** The queue is closed, or its events cannot be read any more. */
  failAll(reason: unknown): void {
    this.#failAwaited(reason);
    this.#sleepers.failAll(reason);
  }

  /** Schedules a poll for the awaited requests: one was posted, or the last one was settled. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const run = () => {
      if (this.#spins()) {
        setImmediate(run);
        return;
      }
      this.#scheduled = false;
      this.#armAndSettle();
    };
    if (budgetSpent()) setImmediate(run);
    else
      queueMicrotask(() => {
        process.nextTick(run);
      });
  }

  /** Polls for the awaited requests. Whether that is to be done again before they sleep. */
  #spins(): boolean {
    const { spin } = this.#queue;
    const { waiting } = this.#awaited;
    if (waiting === 0 || this.#queue.events().taken) this.#spinning = false;
    else this.#spinning ||= spin.begins();
    if (!this.#spinning) return false;
    this.#guard(() => {
      for (let polls = 0; polls < POLLS_PER_TURN && this.#awaited.waiting === waiting; polls++) this.#settle();
    });
    if (this.#awaited.waiting === waiting && spin.goesOn()) return true;
    this.#spinning = false;
    if (this.#awaited.waiting === waiting) return false;
    spin.succeeds();
    return this.#awaited.waiting !== 0;
  }

  #armAndSettle(): void {
    if (this.#awaited.waiting !== 0) {
      this.#guard(() => {
        this.#events ??= this.#queue.events();
        this.#events.enter(this);
        this.#arm(false);
        // A completion from before the arming raises no event.
        this.#settle();
      });
    }
    this.#restIfDone();
  }

  /** A failed poll or arming fails the awaited requests: there is no caller to throw to. */
  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#failAwaited(error);
    }
  }

  #failAwaited(reason: unknown, qp?: Resource): void {
    this.#awaited.failAll(reason, qp);
    this.#restIfDone();
  }

  /** Ends the sleep when no promise waits: it would hold the queue and the process for ever. */
  #restIfDone(): void {
    if (this.#awaited.waiting !== 0) return;
    this.#events?.leave(this);
    this.#events = undefined;
  }

  /** Settles the awaited requests that have completed; stores the other completions. */
  #settle(): void {
    if (!this.#awaited.expecting) return;
    const { waiting } = this.#awaited;
    const result = this.#dispatch(this.#queue.use('ibv_poll_cq'));
    if (waiting !== 0 && this.#awaited.waiting === 0) this.#schedule();
    publishFailures(this.#queue.cq);
    if (result < 0 && this.#stored.count === 0) throw new VerbsError(result, 'ibv_poll_cq');
  }

  /** Polls up to `chunks` times. Returns 0, or a negative errno if the queue is broken and the first poll found nothing. */
  #dispatch(handle: NativeHandle, chunks = CHUNKS_PER_YIELD): number {
    const { timestamps } = this.#queue;
    for (let chunk = 0; chunk < chunks; chunk++) {
      const count = native.poll(handle, records, CHUNK);
      if (count < 0) return chunk === 0 ? count : 0;
      const observed = count !== 0 && failuresObserved();
      for (let i = 0; i < count; i++) {
        const at = i * COMPLETION.BYTES;
        if (this.#awaited.settle(view, at, timestamps)) {
          spend(1);
          continue;
        }
        if (observed) collectFailure(view, at, timestamps);
        this.#stored.add(records.subarray(at, at + COMPLETION.BYTES));
      }
      if (count < CHUNK) break;
    }
    return 0;
  }

  /** Whether a completion is stored, after a poll if none was. */
  #findsSome(): boolean {
    if (this.#awaited.expecting) {
      this.#settle();
      return this.#stored.count !== 0;
    }
    const { cq, timestamps, use } = this.#queue;
    const handle = use('ibv_poll_cq');
    if (this.#stored.count !== 0) return true;
    const found = this.#stored.fill(handle);
    const { view: stored } = this.#stored;
    if (found > 0 && stored !== undefined && failuresObserved()) collectFailures(stored, found, timestamps);
    publishFailures(cq);
    if (found < 0) throw new VerbsError(found, 'ibv_poll_cq');
    return found !== 0;
  }
}
