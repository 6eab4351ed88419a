import { errno as errnos } from '../base/errno.js';
import { HEADER, SEND, SGE } from '../base/records.js';
import { enumName, QpState, QpType, SendFlags, WrOpcode } from '../enums/index.js';

/** A send request that was refused, as it stands in the bytes of its batch. */
export interface RefusedSend {
  opcode: number;
  sendFlags: number;
  /** Bytes of the message. */
  length: number;
}

/** The queue pair that refused. Its state is asked only where a reason depends on it. */
export interface RefusingQueue {
  qpType: number;
  state: () => number;
  maxInlineData: number;
  hasSrq: boolean;
}

type Name = keyof typeof WrOpcode;

const SENDS: readonly Name[] = ['SEND', 'SEND_WITH_IMM'];
const UNRELIABLE: readonly Name[] = [...SENDS, 'RDMA_WRITE', 'RDMA_WRITE_WITH_IMM', 'BIND_MW', 'LOCAL_INV'];
/** The operations of the types that do not have all. */
const CARRIED = new Map<number, readonly Name[]>([
  [QpType.UD, SENDS],
  [QpType.UC, UNRELIABLE],
  [QpType.RAW_PACKET, ['SEND']],
]);
const NEVER_INLINE: ReadonlySet<number> = new Set([
  WrOpcode.RDMA_READ,
  WrOpcode.ATOMIC_CMP_AND_SWP,
  WrOpcode.ATOMIC_FETCH_AND_ADD,
]);
const ATOMICS: ReadonlySet<number> = new Set([WrOpcode.ATOMIC_CMP_AND_SWP, WrOpcode.ATOMIC_FETCH_AND_ADD]);
const OF_SRQ = 'the queue pair takes its receive requests from its srq: post them there';
const NOT_YET: ReadonlySet<number> = new Set([QpState.RESET, QpState.INIT, QpState.RTR]);

/** Whether a type of queue pair lacks the operation, in a sentence. */
export function operationMissing(qpType: number, opcode: number): string | undefined {
  const carried = CARRIED.get(qpType);
  const name = enumName(WrOpcode, opcode);
  if (carried === undefined || carried.includes(name as Name)) return undefined;
  return `a queue pair of ${enumName(QpType, qpType)} has no ${name}: it carries ${carried.join(', ')}`;
}

/** Why `ibv_post_send` refused with that errno; undefined where the request looks right from here. */
export function sendReason(code: number, wr: RefusedSend, { qpType, state, maxInlineData }: RefusingQueue) {
  if (code !== errnos.EINVAL && code !== errnos.ENOMEM) return undefined;
  // A full queue (ENOMEM) is no mistake, and asking the device costs a system call.
  const now = code === errnos.EINVAL ? state() : QpState.UNKNOWN;
  if (NOT_YET.has(now)) {
    const way = CARRIED.get(qpType) === SENDS || qpType === QpType.RAW_PACKET ? 'activate()' : 'connect()';
    return `the queue pair is in ${enumName(QpState, now)} and sends from RTS on: ${way} brings it there`;
  }
  const missing = operationMissing(qpType, wr.opcode);
  if (missing !== undefined) return missing;
  const name = enumName(WrOpcode, wr.opcode);
  if ((wr.sendFlags & SendFlags.INLINE) !== 0) {
    if (NEVER_INLINE.has(wr.opcode)) return `SendFlags.INLINE does not go with ${name}, which brings data to this side`;
    if (wr.length > maxInlineData) {
      return (
        `the message has ${wr.length} bytes and SendFlags.INLINE, and the queue pair takes at most ${maxInlineData} of ` +
        'them inline: leave the flag out, or create it with a larger cap.maxInlineData'
      );
    }
  }
  if (ATOMICS.has(wr.opcode) && wr.length !== 8) {
    return `${name} returns 8 bytes, and sgList has room for ${wr.length}: give one element of 8 bytes`;
  }
  return undefined;
}

/** Why a queue pair has no send queue. */
export function noSendQueue({ qpType, matchesTags }: { qpType: number; matchesTags: boolean }): string {
  if (matchesTags) {
    return "the send queue is the device's own, since srq matches tags: send on another queue pair to the same peer";
  }
  if (qpType === QpType.XRC_RECV) return 'an XRC target only receives: send on another queue pair';
  return 'the queue pair was created with cap.maxSendWr 0: it has no send queue';
}

/** Why a queue pair has no receive queue. */
export function noReceiveQueue({ qpType, hasSrq }: { qpType: number; hasSrq: boolean }): string {
  if (hasSrq) return OF_SRQ;
  if (qpType === QpType.XRC_SEND || qpType === QpType.XRC_RECV) {
    return 'a queue pair of XRC has no receive queue: post to the shared receive queue of the target';
  }
  return 'the queue pair was created with cap.maxRecvWr 0: it has no receive queue';
}

/** Why `ibv_post_recv` refused with that errno. */
export function recvReason(code: number, { state, hasSrq }: RefusingQueue): string | undefined {
  if (code !== errnos.EINVAL) return undefined;
  if (hasSrq) return OF_SRQ;
  return state() === QpState.RESET
    ? 'the queue pair is in RESET and takes receive requests from INIT on: init() first'
    : undefined;
}

/** The request with that number in the bytes of a batch, which holds them in slots or one after the other. */
export function sendAt(bytes: Uint8Array, index: number): RefusedSend {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const slot = view.getUint32(HEADER.SLOT, true);
  const elements = (at: number) => view.getUint32(at + SEND.NUM_SGE, true);
  let at: number = HEADER.BYTES + index * slot;
  if (slot === 0) for (let i = 0; i < index; i++) at += SEND.BYTES + elements(at) * SGE.BYTES;
  let length = 0;
  for (let i = 0; i < elements(at); i++) length += view.getUint32(at + SEND.BYTES + i * SGE.BYTES + SGE.LENGTH, true);
  return {
    opcode: view.getUint32(at + SEND.OPCODE, true),
    sendFlags: view.getUint32(at + SEND.SEND_FLAGS, true),
    length,
  };
}
