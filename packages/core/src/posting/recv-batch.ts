import { RECV } from '../base/records.js';
import { u64 } from '../base/validate.js';
import type { RecvWr } from '../types/work-request.js';
import { type BatchOptions, RequestBatch } from './request-batch.js';
import { flagsFor, writeRecv } from './request-records.js';

/**
 * Receive requests in a typed array, for `postRecvBatch` of a queue pair, a shared receive queue or a receive work
 * queue.
 *
 * @example
 * const batch = new RecvBatch(64);
 * for (let i = 0; i < 64; i++) batch.set(i, { wrId: i, sgList: [{ mr, offset: i * 4096, length: 4096 }] });
 * qp.postRecvBatch(batch);         // all of them
 * qp.postRecvBatch(batch, 5, 1);   // the one in slot 5 again, when it was used
 */
export class RecvBatch extends RequestBatch {
  /**
   * @param capacity requests, 1 to 1048576
   * @throws RangeError
   */
  constructor(capacity: number, options: BatchOptions = {}) {
    super(capacity, options, {
      kind: 'RecvBatch',
      recordBytes: RECV.BYTES,
      flagsAt: RECV.FLAGS,
      numSgeAt: RECV.NUM_SGE,
    });
  }

  /**
   * Writes the request of a slot.
   *
   * @throws TypeError, RangeError with the argument's path, for instance `wr.sgList[0].mr`; the slot then holds no
   *   request
   */
  set(index: number, wr: RecvWr): void {
    this.rewrite(index, (space) => {
      writeRecv(space, wr, 'wr');
    });
  }

  /**
   * The `wrId` of the request in that slot; comes back in its completion as it is given here.
   *
   * @throws TypeError, RangeError (no such slot, nothing in it, more than 64 bits)
   */
  setWrId(index: number, wrId: bigint | number): void {
    const at = this.requestAt(index);
    const id = u64(wrId, 'wrId');
    this.slots.putU64(at + RECV.WR_ID, id);
    this.slots.putU32(at + RECV.FLAGS, flagsFor(id));
  }
}
