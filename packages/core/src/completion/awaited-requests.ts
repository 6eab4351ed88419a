import { randomBytes } from 'node:crypto';
import { COMPLETION } from '../base/records.js';
import type { Resource } from '../lifetime/resource.js';
import { CompletionError } from './completion-error.js';
import { collectDecoded } from './failed-completions.js';
import { WorkCompletion } from './work-completion.js';

interface Awaited {
  /** As the program gave it. */
  wrId: bigint | number;
  /** Held: the completion of a collected queue pair would never come. */
  qp: Resource;
  /** Removes the listener of the program's signal. */
  ended: (() => void) | undefined;
  resolve: (wc: WorkCompletion) => void;
  reject: (reason: unknown) => void;
}

/** The requests of one completion queue that promises await, by the number that is posted in place of their `wrId`. */
export class AwaitedRequests {
  readonly #requests = new Map<bigint, Awaited>();
  /** Requests whose signal was aborted: their completions must not reach the program. They hold nothing. */
  readonly #aborted = new Map<bigint, { wrId: bigint | number; qp: WeakRef<Resource> }>();
  // A random start, so that the numbers do not meet the program's own.
  #next = randomBytes(8).readBigUInt64LE();

  /** The number of promises. */
  get waiting(): number {
    return this.#requests.size;
  }

  /** Whether completions may come that must not reach the program. */
  get expecting(): boolean {
    return this.#requests.size + this.#aborted.size !== 0;
  }

  /** An aborted signal rejects the promise and calls `abandoned`; the request itself goes on. */
  add(qp: Resource, wrId: bigint | number, signal: AbortSignal | undefined, abandoned: () => void) {
    const id = (this.#next = BigInt.asUintN(64, this.#next + 1n));
    const promise = new Promise<WorkCompletion>((resolve, reject) => {
      const ended = signal === undefined ? undefined : this.#listen(id, signal, reject, abandoned);
      this.#requests.set(id, { wrId, qp, ended, resolve, reject });
    });
    return { id, promise };
  }

  /** Returns the function that removes the listener. */
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

  /** The request was not posted. The program has no promise of it, so an abort must not reject one. */
  forget(id: bigint): void {
    this.#requests.get(id)?.ended?.();
    this.#requests.delete(id);
    this.#aborted.delete(id);
  }

  /** Settles the promise of a completion's request; false if the completion is of no awaited request. */
  settle(view: DataView, offset: number, timestamps: boolean): boolean {
    const id = view.getBigUint64(offset + COMPLETION.WR_ID, true);
    const request = this.#requests.get(id);
    const { wrId } = request ?? this.#aborted.get(id) ?? {};
    if (wrId === undefined) return false;
    this.#requests.delete(id);
    this.#aborted.delete(id);
    request?.ended?.();
    const wc = new WorkCompletion(view, offset, timestamps, wrId);
    if (wc.ok) {
      request?.resolve(wc);
    } else {
      collectDecoded(wc);
      request?.reject(new CompletionError(wc));
    }
    return true;
  }

  /** Rejects the promises of one queue pair, or all of them. */
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
