import { randomBytes } from 'node:crypto';
import { onAbort } from '../base/abort.js';
import { follows, handled } from '../base/handled.js';
import { COMPLETION } from '../base/records.js';
import { WcOpcode, WcStatus } from '../enums/index.js';
import type { Resource } from '../lifetime/resource.js';
import { CompletionError } from './completion-error.js';
import { collectDecoded } from './failed-completions.js';
import { nicReason } from '../reasons/nic-reason.js';
import type { ReceiveElements } from '../posting/receive-elements.js';
import { type Linked, LinkedList } from './linked-list.js';
import { type VacantReceive, VacantReceives } from './vacant-receives.js';
import { WorkCompletion } from './work-completion.js';

/** A request that a promise awaits. */
export interface AwaitedRequest {
  /** As the program gave it. */
  wrId: bigint | number;
  /** The {@link WrOpcode} of a send request: a failed completion does not have it. */
  opcode?: number | undefined;
  /** Held: the completion of a collected queue pair would never come. */
  qp: Resource;
  /** The memory of a receive request that may be given up. */
  elements?: ReceiveElements | undefined;
  /** An aborted signal rejects the promise; the request itself goes on. */
  signal?: AbortSignal | undefined;
}

interface Awaited extends AwaitedRequest, Linked<Awaited> {
  id: bigint;
  /** Those of its queue pair. */
  list: LinkedList<Awaited>;
  /** Where its message arrives, if it took over the place of another request. */
  arrives?: ReceiveElements | undefined;
  /** Removes the listener of the program's signal. */
  ended: (() => void) | undefined;
  promise: Promise<WorkCompletion>;
  resolve: (wc: WorkCompletion) => void;
  reject: (reason: unknown) => void;
}

/** The requests of one completion queue that promises await, by the number that is posted in place of their `wrId`. */
export class AwaitedRequests {
  readonly #requests = new Map<bigint, Awaited>();
  /** The same by queue pair: closing one of many costs what it has itself. */
  readonly #ofQp = new WeakMap<Resource, LinkedList<Awaited>>();
  /** Requests whose signal was aborted: their completions must not reach the program. They hold nothing. */
  readonly #aborted = new Map<bigint, { wrId: bigint | number; qp: WeakRef<Resource> }>();
  readonly #vacant = new VacantReceives();
  /** A receive request was awaited with a signal: its message may be for those behind it. */
  #abortable = false;
  readonly #abandoned: () => void;
  // A random start, so that the numbers do not meet the program's own.
  #next = randomBytes(8).readBigUInt64LE();

  /** `abandoned` is called when a promise ends before its request. */
  constructor(abandoned: () => void) {
    this.#abandoned = abandoned;
  }

  /** The number of promises. */
  get waiting(): number {
    return this.#requests.size;
  }

  /** Whether completions may come that must not reach the program. */
  get expecting(): boolean {
    return this.#requests.size + this.#aborted.size !== 0;
  }

  /** Whether a queue pair may have receive requests that nobody awaits, now or when a signal has come. */
  get vacancies(): boolean {
    return this.#vacant.used || this.#abortable;
  }

  /** Its place in the queue is new, unless it has that of `taken`. */
  add(request: AwaitedRequest, taken?: VacantReceive): { id: bigint; promise: Promise<WorkCompletion> } {
    const id = taken?.elements.id ?? (this.#next = BigInt.asUintN(64, this.#next + 1n));
    const { wrId, opcode, qp, elements, signal } = request;
    if (elements !== undefined) elements.id = id;
    this.#abortable ||= elements !== undefined && signal !== undefined;
    const { promise, resolve, reject } = deferred();
    const ended = signal === undefined ? undefined : this.#listen(id, signal);
    const list = this.#listOf(qp);
    const arrives = taken?.elements;
    const added: Awaited = { id, list, wrId, opcode, qp, elements, signal, arrives, ended, promise, resolve, reject };
    this.#requests.set(id, added);
    list.append(added);
    return { id, promise };
  }

  #listOf(qp: Resource): LinkedList<Awaited> {
    let list = this.#ofQp.get(qp);
    if (list === undefined) this.#ofQp.set(qp, (list = new LinkedList()));
    return list;
  }

  #remove(request: Awaited): void {
    this.#requests.delete(request.id);
    request.list.remove(request);
  }

  /**
   * The oldest receive request of the queue pair that nobody awaits any more; it belongs to the caller from now on. Its
   * message may have arrived already.
   */
  takeVacant(qp: Resource, elements: ReceiveElements): VacantReceive | undefined {
    const vacant = this.#vacant.take(qp, elements);
    if (vacant !== undefined && vacant.record === undefined) this.#aborted.delete(vacant.elements.id);
    return vacant;
  }

  /** Returns the function that removes the listener. */
  #listen(id: bigint, signal: AbortSignal): () => void {
    return onAbort(signal, () => {
      this.giveUp(id, signal.reason);
    });
  }

  /** Rejects the promise; the request itself goes on. */
  giveUp(id: bigint, reason: unknown): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    const { qp, wrId, elements, arrives } = request;
    this.#remove(request);
    this.#aborted.set(id, { wrId, qp: new WeakRef(qp) });
    const place = arrives ?? elements;
    if (place !== undefined) this.#vacant.add(qp, place);
    this.#abandoned();
    request.ended?.();
    fail(request, reason);
  }

  /** The request was not posted. The program has no promise of it, so an abort must not reject one. */
  forget(id: bigint): void {
    const request = this.#requests.get(id);
    request?.ended?.();
    if (request !== undefined) this.#remove(request);
    const aborted = this.#aborted.get(id)?.qp.deref();
    if (aborted !== undefined) this.#vacant.complete(aborted, id, undefined, []);
    this.#aborted.delete(id);
  }

  /** Settles the promise of a completion's request; false if the completion is of no awaited request. */
  settle(view: DataView, offset: number, timestamps: boolean): boolean {
    const id = view.getBigUint64(offset + COMPLETION.WR_ID, true);
    const request = this.#requests.get(id);
    if (request === undefined) return this.#settleAborted(id, view, offset, timestamps);
    this.#remove(request);
    request.ended?.();
    const wc = new WorkCompletion(view, offset, timestamps, request.wrId);
    if (wc.ok) {
      if (request.arrives !== undefined) moveMessage(wc, request.arrives, request.elements);
      request.resolve(wc);
    } else {
      collectDecoded(wc);
      fail(
        request,
        new CompletionError(wc, {
          opcode: request.opcode,
          qpType: (request.qp as { qpType?: number }).qpType,
          why: nicReason(request.qp, wc),
        }),
      );
    }
    return true;
  }

  #settleAborted(id: bigint, view: DataView, offset: number, timestamps: boolean): boolean {
    const aborted = this.#aborted.get(id);
    if (aborted === undefined) return false;
    this.#aborted.delete(id);
    const ok = view.getUint32(offset + COMPLETION.STATUS, true) === WcStatus.SUCCESS;
    const qp = aborted.qp.deref();
    if (qp !== undefined && this.#vacant.used) {
      const record = new Uint8Array(view.buffer, view.byteOffset + offset, COMPLETION.BYTES);
      const waiting = this.#ofQp.get(qp) ?? [];
      const found = this.#vacant.complete(qp, id, ok ? record.slice() : undefined, waiting);
      if (found !== undefined) this.#handOver(found.vacant, found.taker, timestamps);
    }
    if (!ok) collectDecoded(new WorkCompletion(view, offset, timestamps, aborted.wrId));
    return true;
  }

  /** The message of a vacant request is for one that waits, whose own place is vacant from now on. */
  #handOver(vacant: VacantReceive, taker: Awaited & { elements: ReceiveElements }, timestamps: boolean): void {
    const { id, qp, wrId, arrives, elements } = taker;
    this.#remove(taker);
    taker.ended?.();
    this.#aborted.set(id, { wrId, qp: new WeakRef(qp) });
    this.#vacant.add(qp, arrives ?? elements);
    taker.resolve(arrivedMessage(vacant, taker, timestamps));
  }

  /** Rejects the promises of one queue pair, or all of them. */
  failAll(reason: unknown, qp?: Resource): void {
    for (const request of qp === undefined ? this.#requests.values() : (this.#ofQp.get(qp) ?? [])) {
      this.#remove(request);
      request.ended?.();
      fail(request, reason);
    }
    for (const [id, aborted] of this.#aborted) {
      const owner = aborted.qp.deref();
      if (qp === undefined || owner === undefined || owner === qp) this.#aborted.delete(id);
    }
    if (qp !== undefined) this.#vacant.forget(qp);
  }
}

function deferred() {
  let settle: Pick<Awaited, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<WorkCompletion>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...(settle as unknown as Pick<Awaited, 'resolve' | 'reject'>) };
}

/** Rejects the promise. A failure that follows from another one ends no process that does not await it. */
function fail(request: Awaited, reason: unknown): void {
  request.reject(reason);
  if (follows(reason, request.signal)) void handled(request.promise);
}

/** The completion of a message that arrived in a vacant place, with the message moved to where it is awaited now. */
export function arrivedMessage(
  { elements: arrives, record = new Uint8Array(COMPLETION.BYTES) }: VacantReceive,
  { wrId, elements }: AwaitedRequest,
  timestamps: boolean,
): WorkCompletion {
  const wc = new WorkCompletion(new DataView(record.buffer), 0, timestamps, wrId);
  moveMessage(wc, arrives, elements);
  return wc;
}

function moveMessage(wc: WorkCompletion, from: ReceiveElements, to: ReceiveElements | undefined): void {
  // The bytes of a write went to their own address.
  if (to !== undefined && wc.opcode === WcOpcode.RECV) from.moveTo(to, wc.byteLen);
}
