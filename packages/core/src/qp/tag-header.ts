import { fields, member, maybe, or, u32, u64 } from '../base/fields.js';
import { typeError, valueError } from '../base/validate.js';
import { TmhOp } from '../enums/index.js';

/** `struct ibv_rvh`: where the data of a rendezvous is. */
export interface Rvh {
  /** Its address: that of a byte of a region. */
  va: bigint | number;
  /** The key of the region, which needs AccessFlags.REMOTE_READ. */
  rkey: number;
  /** Bytes. */
  len: number;
}

/** `struct ibv_tmh`: the header of a message to a shared receive queue of type TM, and what follows it in a rendezvous. */
export interface Tmh {
  /** See {@link TmhOp}. */
  opcode: TmhOp;
  /** The sender's own 32 bits, for the receiver; default 0. */
  appCtx?: number;
  /** Default 0. */
  tag?: bigint | number;
  /** Of RNDV, and of FIN. */
  rvh?: Rvh;
}

const TMH_BYTES = 16;
const RVH_BYTES = 16;

const tmh = fields({
  opcode: member(TmhOp, 'TmhOp'),
  appCtx: or(u32(), 0),
  tag: or(u64(), 0n),
  rvh: maybe(fields({ va: u64(), rkey: u32(), len: u32() })),
});

/**
 * The 16 bytes that a message to a shared receive queue of type TM begins with, or the 32 bytes of a rendezvous.
 *
 * @throws TypeError, RangeError
 * @example
 * const header = encodeTmh({ opcode: TmhOp.EAGER, tag: 0x1234n });
 * new Uint8Array(mr.buffer).set(header);
 */
export function encodeTmh(header: Tmh): Uint8Array<ArrayBuffer> {
  const { opcode, appCtx, tag, rvh } = tmh(header, 'header');
  if (opcode === TmhOp.RNDV && rvh === undefined)
    throw valueError('header.rvh', 'is missing: RNDV says where the data is');
  const bytes = new Uint8Array(TMH_BYTES + (rvh === undefined ? 0 : RVH_BYTES));
  const view = new DataView(bytes.buffer);
  view.setUint8(0, opcode);
  view.setUint32(4, appCtx);
  view.setBigUint64(8, tag);
  if (rvh === undefined) return bytes;
  view.setBigUint64(TMH_BYTES, rvh.va);
  view.setUint32(TMH_BYTES + 8, rvh.rkey);
  view.setUint32(TMH_BYTES + 12, rvh.len);
  return bytes;
}

/**
 * The header of an unexpected message, or of a rendezvous that is left to the program. A message without a tag may be
 * shorter: what is missing is 0.
 *
 * @param bytes the message from its beginning on
 * @throws TypeError
 * @example
 * const { opcode, tag } = decodeTmh(new Uint8Array(mr.buffer, 0, wc.byteLen));
 */
export function decodeTmh(bytes: Uint8Array): Tmh {
  if (!(bytes instanceof Uint8Array)) throw typeError('bytes', 'a Uint8Array', bytes);
  const copy = new Uint8Array(TMH_BYTES + RVH_BYTES);
  copy.set(bytes.subarray(0, copy.length));
  const view = new DataView(copy.buffer);
  const opcode = view.getUint8(0) as TmhOp;
  const header = { opcode, appCtx: view.getUint32(4), tag: view.getBigUint64(8) };
  const hasRvh = (opcode === TmhOp.RNDV || opcode === TmhOp.FIN) && bytes.length >= copy.length;
  if (!hasRvh) return header;
  const rvh = { va: view.getBigUint64(16), rkey: view.getUint32(24), len: view.getUint32(28) };
  return { ...header, rvh };
}
