import type { Resource } from '../lifetime/resource.js';
import type { ReceiveElements } from '../posting/receive-elements.js';

/** A posted receive request whose promise was aborted. */
export interface VacantReceive {
  readonly elements: ReceiveElements;
  /** The record of its completion, once its message has arrived. */
  record?: Uint8Array;
}

/**
 * The receive requests that nobody awaits any more. The device cannot take a posted request back, so the next message
 * arrives there; the next `recv` of the queue pair that has room for it takes the oldest one over.
 */
export class VacantReceives {
  // What a queue pair's requests hold goes with the queue pair.
  readonly #requests = new WeakMap<Resource, VacantReceive[]>();
  #used = false;

  /** Whether a queue pair may have one; false as long as no receive request was aborted. */
  get used(): boolean {
    return this.#used;
  }

  add(qp: Resource, elements: ReceiveElements): void {
    this.#used = true;
    const list = this.#requests.get(qp) ?? [];
    // In the order of the posting, in which the messages arrive. The numbers of requests may wrap around.
    const older = list.findLastIndex((each) => BigInt.asIntN(64, elements.id - each.elements.id) > 0n);
    list.splice(older + 1, 0, { elements });
    this.#requests.set(qp, list);
  }

  /** Removes and returns the oldest one whose message can be moved to those elements. */
  take(qp: Resource, elements: ReceiveElements): VacantReceive | undefined {
    const list = this.#requests.get(qp);
    const at = list?.findIndex((each) => each.elements.fits(elements)) ?? -1;
    return at < 0 ? undefined : list?.splice(at, 1)[0];
  }

  /** A request has completed: its message waits for the next `recv`. A failed one has none. */
  complete(qp: Resource, id: bigint, record: Uint8Array | undefined): void {
    const list = this.#requests.get(qp);
    const at = list?.findIndex((each) => each.elements.id === id) ?? -1;
    const vacant = list?.[at];
    if (vacant === undefined) return;
    if (record === undefined) list?.splice(at, 1);
    else vacant.record = record;
  }

  /** The queue pair is closed, or was reset, which drops its requests. */
  forget(qp: Resource): void {
    this.#requests.delete(qp);
  }
}
