import { AccessFlags, QpState, QpType, SendFlags, WrOpcode } from '@verbs/core';

/** @import { Context } from '@verbs/core' */

/** Bytes of a slot: a frame of the largest MTU, and the headers of a tunnel. */
const SLOT = 9216;
const SLOTS = 64;

/** A queue pair for whole Ethernet frames, with buffers. */
export class RawPort {
  #mr;
  #sendCq;
  #recvCq;
  #free = Array.from({ length: SLOTS }, (_, i) => i);

  /** @param {Context} ctx @param {number} portNum */
  constructor(ctx, portNum) {
    this.ctx = ctx;
    this.#sendCq = ctx.createCq(SLOTS);
    this.#recvCq = ctx.createCq(SLOTS, { channel: ctx.createCompChannel() });
    const pd = ctx.allocPd();
    this.#mr = pd.allocMr(2 * SLOTS * SLOT, AccessFlags.LOCAL_WRITE);
    const cap = { maxSendWr: SLOTS, maxRecvWr: SLOTS };
    this.qp = pd.createQp({ qpType: QpType.RAW_PACKET, sendCq: this.#sendCq, recvCq: this.#recvCq, cap });
    this.qp.modify({ qpState: QpState.INIT, portNum });
    this.qp.modify({ qpState: QpState.RTR });
    this.qp.modify({ qpState: QpState.RTS });
    for (let slot = 0; slot < SLOTS; slot++) this.#receiveInto(slot);
  }

  /** Sends a frame; false if all buffers are on their way. @param {Uint8Array} frame */
  send(frame) {
    if (frame.length > SLOT) throw new RangeError(`a frame of ${frame.length} bytes is longer than ${SLOT}`);
    this.#reap();
    const slot = this.#free.pop();
    if (slot === undefined) return false;
    const offset = (SLOTS + slot) * SLOT;
    this.#mr.bytes.set(frame, offset);
    const sgList = [{ mr: this.#mr, offset, length: frame.length }];
    this.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, wrId: slot, sgList });
    return true;
  }

  /** Whether every frame that was sent has left. */
  get idle() {
    this.#reap();
    return this.#free.length === SLOTS;
  }

  /** The frames that have arrived, each for the time of the call. @param {(frame: Uint8Array) => void} each */
  take(each) {
    const done = this.#recvCq.poll(SLOTS);
    for (const wc of done) {
      const slot = Number(wc.wrId);
      if (!wc.ok) throw new Error(`receiving failed: ${wc.statusText}`);
      each(this.#mr.bytes.subarray(slot * SLOT, slot * SLOT + wc.byteLen));
      this.#receiveInto(slot);
    }
    return done.length;
  }

  /** Waits for a frame. @param {AbortSignal} signal */
  arrival(signal) {
    return this.#recvCq.wait({ signal });
  }

  #reap() {
    for (const wc of this.#sendCq.poll(SLOTS)) {
      if (!wc.ok) throw new Error(`sending failed: ${wc.statusText}`);
      this.#free.push(Number(wc.wrId));
    }
  }

  /** @param {number} slot */
  #receiveInto(slot) {
    this.qp.postRecv({ wrId: slot, sgList: [{ mr: this.#mr, offset: slot * SLOT, length: SLOT }] });
  }
}
