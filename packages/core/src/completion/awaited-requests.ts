import { randomBytes } from 'node:crypto';
import { COMPLETION } from '../base/records.js';
import type { Resource } from '../lifetime/resource.js';
import { CompletionError } from './completion-error.js';
import { noticeFailure } from './completion-failures.js';
import { handOut } from './turn.js';
import { WorkCompletion } from './work-completion.js';

interface Awaited {
  /** As the program gave it. */
  wrId: bigint | number;
  /** Held: the completion of a queue pair that was collected would never come. */
  qp: Resource;
  /** Of the one who listens to the signal, if there is one. */
  ended: (() => void) | undefined;
  resolve: (wc: WorkCompletion) => void;
  reject: (reason: unknown) => void;
}

/** The requests of one completion queue that a promise waits for, by the number that stands in for their `wrId`. */
export class AwaitedRequests {
  readonly #requests = new Map<bigint, Awaited>();
  /** Whose waiting was aborted: their completions are still to come, for nobody. They hold nothing. */
  readonly #aborted = new Map<bigint, { wrId: bigint | number; qp: WeakRef<Resource> }>();
  // From a place of its own, so that it does not meet the program's numbers.
  #next = randomBytes(8).readBigUInt64LE();

  /** Promises that wait. */
  get waiting(): number {
    return this.#requests.size;
  }

  /** Whether completions may come that must not reach the program. */
  get expecting(): boolean {
    return this.#requests.size + this.#aborted.size !== 0;
  }

  /**
   * An aborted signal rejects the promise, and `abandoned` is called; the request goes on, and nobody is told of its
   * completion.
   */
  add(qp: Resource, wrId: bigint | number, signal: AbortSignal | undefined, abandoned: () => void) {
    const id = (this.#next = BigInt.asUintN(64, this.#next + 1n));
    const promise = new Promise<WorkCompletion>((resolve, reject) => {
      const ended = signal === undefined ? undefined : this.#listen(id, signal, reject, abandoned);
      this.#requests.set(id, { wrId, qp, ended, resolve, reject });
    });
    return { id, promise };
  }

  /** Gives what stops the listening. */
  #listen(id: bigint, signal: AbortSignal, reject: (reason: unknown) => void, abandoned: () => void): () => void {
    const aborted = () => {
      const request = this.#requests.get(id);
      if (request === undefined) return;
      this.#requests.delete(id);
      this.#aborted.set(id, { wrId: request.wrId, qp: new WeakRef(request.qp) });
      abandoned();
      reject(signal.reason);
    };
    signal.addEventListener('abort', aborted, { once: true });
    return () => {
      signal.removeEventListener('abort', aborted);
    };
  }

  /** It was not posted. Nobody has its promise, so an abort must not reject it any more. */
  forget(id: bigint): void {
    this.#requests.get(id)?.ended?.();
    this.#requests.delete(id);
    this.#aborted.delete(id);
  }

  /** Settles the promise of a completion's request; false if nobody awaits it. */
  settle(view: DataView, offset: number, timestamps: boolean): boolean {
    const id = view.getBigUint64(offset + COMPLETION.WR_ID, true);
    const request = this.#requests.get(id);
    const { wrId } = request ?? this.#aborted.get(id) ?? {};
    if (wrId === undefined) return false;
    this.#requests.delete(id);
    this.#aborted.delete(id);
    handOut(1);
    request?.ended?.();
    const wc = new WorkCompletion(view, offset, timestamps, wrId);
    if (wc.ok) {
      request?.resolve(wc);
    } else {
      noticeFailure(wc);
      request?.reject(new CompletionError(wc));
    }
    return true;
  }

  /** Of one queue pair, or of all. */
  failAll(reason: unknown, qp?: Resource): void {
    for (const [id, request] of this.#requests) {
      if (qp !== undefined && request.qp !== qp) continue;
      this.#requests.delete(id);
      request.ended?.();
      request.reject(reason);
    }
    for (const [id, aborted] of this.#aborted) {
      const owner = aborted.qp.deref();
      if (qp === undefined || owner === undefined || owner === qp) this.#aborted.delete(id);
    }
  }
}
