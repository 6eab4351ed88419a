import {
  AccessFlags,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  QpState,
  QpType,
  type QueuePair,
  SendFlags,
  type WorkCompletion,
  WrOpcode,
} from '@verbs/core';

/** A RAW_PACKET queue pair with a buffer of equal slots for its frames. */
export class RawEnd {
  readonly qp: QueuePair;
  readonly #cq: CompletionQueue;
  readonly #mr: MemoryRegion;
  readonly #slotBytes: number;

  constructor(context: Context, slots: number, slotBytes: number) {
    this.#slotBytes = slotBytes;
    this.#cq = context.createCq(2 * slots);
    const pd = context.allocPd();
    this.#mr = pd.allocMr(slots * slotBytes, AccessFlags.LOCAL_WRITE);
    const cap = { maxSendWr: slots, maxRecvWr: slots, maxSendSge: 1, maxRecvSge: 1 };
    this.qp = pd.createQp({ qpType: QpType.RAW_PACKET, sendCq: this.#cq, recvCq: this.#cq, cap });
    this.qp.modify({ qpState: QpState.INIT, portNum: 1 });
    this.qp.modify({ qpState: QpState.RTR });
    this.qp.modify({ qpState: QpState.RTS });
  }

  /** The bytes of a slot. */
  slot(index: number, length = this.#slotBytes): Uint8Array {
    const at = index * this.#slotBytes;
    return this.#mr.bytes.subarray(at, at + length);
  }

  /** Sends the first slots, one for each length. Only the last one has a completion. */
  send(lengths: readonly number[]): void {
    this.qp.postSend(
      lengths.map((length, index) => ({
        opcode: WrOpcode.SEND,
        wrId: index,
        sendFlags: index === lengths.length - 1 ? SendFlags.SIGNALED : 0,
        sgList: [{ mr: this.#mr, offset: index * this.#slotBytes, length }],
      })),
    );
  }

  /** Lets frames come into these slots, in this order. */
  receive(slots: readonly number[]): void {
    const length = this.#slotBytes;
    this.qp.postRecv(slots.map((wrId) => ({ wrId, sgList: [{ mr: this.#mr, offset: wrId * length, length }] })));
  }

  poll(max: number): WorkCompletion[] {
    return this.#cq.poll(max);
  }
}
