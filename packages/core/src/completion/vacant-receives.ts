import { COMPLETION } from '../base/records.js';
import { WcOpcode } from '../enums/index.js';
import type { Resource } from '../lifetime/resource.js';
import type { ReceiveElements } from '../posting/receive-elements.js';

/** A posted receive request whose promise was aborted. */
export interface VacantReceive {
  readonly elements: ReceiveElements;
  /** The record of its completion, once its message has arrived. */
  record?: Uint8Array;
}

/** Whether the message, or one that may still arrive, can be moved to those elements. */
function fits({ elements, record }: VacantReceive, wanted: ReceiveElements): boolean {
  if (record === undefined) return elements.fits(wanted);
  const view = new DataView(record.buffer, record.byteOffset);
  const isMessage = view.getUint32(COMPLETION.OPCODE, true) === WcOpcode.RECV;
  // The bytes of a write went to their own address.
  return elements.fits(wanted, isMessage ? view.getUint32(COMPLETION.BYTE_LEN, true) : 0);
}

/**
 * The receive requests that nobody awaits any more. The device cannot take a posted request back, so the next message
 * arrives there. The next `recv` of the queue pair that has room for whatever comes takes the oldest one over; else the
 * message is for the first `recv` that has room for it.
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
    const at = list?.findIndex((each) => fits(each, elements)) ?? -1;
    return at < 0 ? undefined : list?.splice(at, 1)[0];
  }

  /**
   * A request has completed. A failed one has no message; the message of another one is for the first of those elements that
   * have room for it, which are returned with it, or it waits for a `recv` to come.
   */
  complete<T extends { elements?: ReceiveElements | undefined }>(
    qp: Resource,
    id: bigint,
    record: Uint8Array | undefined,
    waiting: Iterable<T>,
  ): { vacant: VacantReceive; taker: T & { elements: ReceiveElements } } | undefined {
    const list = this.#requests.get(qp) ?? [];
    const at = list.findIndex((each) => each.elements.id === id);
    const vacant = list[at];
    if (vacant === undefined) return undefined;
    if (record === undefined) {
      list.splice(at, 1);
      return undefined;
    }
    vacant.record = record;
    for (const taker of waiting) {
      if (taker.elements === undefined || !fits(vacant, taker.elements)) continue;
      list.splice(at, 1);
      return { vacant, taker: taker as T & { elements: ReceiveElements } };
    }
    return undefined;
  }

  /** The queue pair is closed, or was reset, which drops its requests. */
  forget(qp: Resource): void {
    this.#requests.delete(qp);
  }
}
