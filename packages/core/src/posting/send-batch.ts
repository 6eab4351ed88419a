import { U24, U32 } from '../base/numbers.js';
import { SEND } from '../base/records.js';
import { integer, u64, valueError } from '../base/validate.js';
import { enumName, type SendFlags, WrOpcode } from '../enums/index.js';
import type { AddressHandle } from '../types/objects.js';
import type { BindMwRequest, SendWr } from '../types/work-request.js';
import { type BatchOptions, RequestBatch } from './request-batch.js';
import { addressOf, flagsFor, writeSend } from './request-records.js';

/** The requests of a {@link SendBatch}: all but BIND_MW, which needs another rkey each time. */
export type BatchSendWr = Exclude<SendWr, BindMwRequest>;

// Which opcodes have a field: a bit for each.
const CAS = 1 << WrOpcode.ATOMIC_CMP_AND_SWP;
const ADD = 1 << WrOpcode.ATOMIC_FETCH_AND_ADD;
const IMM = (1 << WrOpcode.SEND_WITH_IMM) | (1 << WrOpcode.RDMA_WRITE_WITH_IMM);
const INVALIDATE = (1 << WrOpcode.SEND_WITH_INV) | (1 << WrOpcode.LOCAL_INV);
const WRITE = (1 << WrOpcode.RDMA_WRITE) | (1 << WrOpcode.RDMA_WRITE_WITH_IMM) | (1 << WrOpcode.ATOMIC_WRITE);
const REMOTE = WRITE | (1 << WrOpcode.RDMA_READ) | (1 << WrOpcode.FLUSH) | CAS | ADD;

/**
 * Send requests in a typed array, for `qp.postSendBatch`. `set` writes a request as `postSend` takes it; the other
 * calls change one field of it and allocate nothing as long as 64-bit values are given as numbers.
 *
 * @example
 * const batch = new SendBatch(64);
 * for (let i = 0; i < 64; i++) {
 *   const remoteAddr = peer.addr + BigInt(i * 4096);
 *   batch.set(i, { opcode: WrOpcode.RDMA_WRITE, remoteAddr, rkey: peer.rkey, sgList: [{ mr, offset: i * 4096, length: 4096 }] });
 * }
 * batch.setSendFlags(63, SendFlags.SIGNALED);
 * qp.postSendBatch(batch); // all of them; and again when the last one has completed
 */
export class SendBatch extends RequestBatch {
  /**
   * @param capacity requests, 1 to 1048576
   * @throws RangeError
   */
  constructor(capacity: number, options: BatchOptions = {}) {
    super(capacity, options, {
      kind: 'SendBatch',
      recordBytes: SEND.BYTES,
      flagsAt: SEND.FLAGS,
      numSgeAt: SEND.NUM_SGE,
    });
  }

  /**
   * Writes the request of a slot. One with `ah` is for UD queue pairs, one with `remoteSrqn` for XRC.
   *
   * @throws TypeError, RangeError with the argument's path, for instance `wr.sgList[0].mr`; the slot then holds no
   *   request
   */
  set(index: number, wr: BatchSendWr): void {
    this.rewrite(index, (space) => {
      writeSend(space, wr, 'wr');
    });
  }

  /**
   * The `wrId` of the request in that slot; comes back in its completion as it is given here.
   *
   * @throws TypeError, RangeError (no such slot, nothing in it, more than 64 bits)
   * @example sends.setWrId(3, 3);
   */
  setWrId(index: number, wrId: bigint | number): void {
    const at = this.requestAt(index);
    const id = u64(wrId, 'wrId');
    this.slots.putU64(at + SEND.WR_ID, id);
    this.slots.putU32(at + SEND.FLAGS, flagsFor(id));
  }

  /**
   * The flags of the request in that slot; see {@link SendFlags}.
   *
   * @throws TypeError, RangeError (no such slot, nothing in it, more than 32 bits)
   * @example sends.setSendFlags(3, SendFlags.SIGNALED);
   */
  setSendFlags(index: number, sendFlags: SendFlags): void {
    const at = this.requestAt(index);
    this.slots.putU32(at + SEND.SEND_FLAGS, integer(sendFlags, 'sendFlags', 0, U32));
  }

  /**
   * Of SEND_WITH_IMM and RDMA_WRITE_WITH_IMM: 32 bits for the receiver.
   *
   * @throws TypeError, RangeError (no such slot, nothing in it, a request of another kind)
   */
  setImmData(index: number, immData: number): void {
    const at = this.#requestWith(IMM, index, 'immData');
    this.slots.putU32(at + SEND.IMM_DATA, integer(immData, 'immData', 0, U32));
  }

  /**
   * Of SEND_WITH_INV and LOCAL_INV: the key that is invalidated, 32 bits.
   *
   * @throws TypeError, RangeError (no such slot, nothing in it, a request of another kind)
   */
  setInvalidateRkey(index: number, invalidateRkey: number): void {
    const at = this.#requestWith(INVALIDATE, index, 'invalidateRkey');
    this.slots.putU32(at + SEND.IMM_DATA, integer(invalidateRkey, 'invalidateRkey', 0, U32));
  }

  /**
   * Of RDMA and atomic requests: where in the peer's memory, and optionally by which rkey.
   *
   * @throws TypeError, RangeError (no such slot, nothing in it, a request of another kind)
   * @example sends.setRemote(3, peer.addr + 4096n);
   */
  setRemote(index: number, remoteAddr: bigint | number, rkey?: number): void {
    const at = this.#requestWith(REMOTE, index, 'remoteAddr');
    const addr = u64(remoteAddr, 'remoteAddr');
    if (rkey !== undefined) this.slots.putU32(at + SEND.RKEY, integer(rkey, 'rkey', 0, U32));
    this.slots.putU64(at + SEND.REMOTE_ADDR, addr);
  }

  /**
   * Of ATOMIC_CMP_AND_SWP: the expected value and its replacement, 64 bits each.
   *
   * @throws TypeError, RangeError (no such slot, nothing in it, a request of another kind)
   */
  setCompareSwap(index: number, compare: bigint | number, swap: bigint | number): void {
    const at = this.#requestWith(CAS, index, 'compare');
    const [expected, wanted] = [u64(compare, 'compare'), u64(swap, 'swap')];
    this.slots.putU64(at + SEND.COMPARE_ADD, expected);
    this.slots.putU64(at + SEND.SWAP, wanted);
  }

  /**
   * Of ATOMIC_FETCH_AND_ADD: the addend, 64 bits.
   *
   * @throws TypeError, RangeError (no such slot, nothing in it, a request of another kind)
   */
  setAdd(index: number, add: bigint | number): void {
    const at = this.#requestWith(ADD, index, 'add');
    this.slots.putU64(at + SEND.COMPARE_ADD, u64(add, 'add'));
  }

  /**
   * Of a request that was written with `ah`: another receiver.
   *
   * @param remoteQpn its queue pair, 24 bits
   * @param remoteQkey its qkey, 32 bits
   * @throws TypeError, RangeError (no such slot, nothing in it, a request without an address)
   */
  setAddress(index: number, ah: AddressHandle, remoteQpn: number, remoteQkey: number): void {
    const at = this.requestAt(index);
    if (this.slots.u32(at + SEND.ADDRESS_HANDLE) === 0)
      throw valueError('index', `is ${index}, a request without an address: write it by set() with ah`);
    integer(remoteQpn, 'remoteQpn', 0, U24);
    integer(remoteQkey, 'remoteQkey', 0, U32);
    this.slots.beginAddress(index);
    this.slots.putU32(at + SEND.ADDRESS_HANDLE, addressOf(this.slots, ah));
    this.slots.putU32(at + SEND.REMOTE_QPN, remoteQpn);
    this.slots.putU32(at + SEND.REMOTE_QKEY, remoteQkey);
  }

  #requestWith(opcodes: number, index: number, field: string): number {
    const at = this.requestAt(index);
    const opcode = this.slots.u32(at + SEND.OPCODE);
    if (((opcodes >>> opcode) & 1) === 0)
      throw valueError('index', `is ${index}, a request of ${enumName(WrOpcode, opcode)}, which has no ${field}`);
    return at;
  }
}
