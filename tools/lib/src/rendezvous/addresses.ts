import type { Fields } from './fields.js';

const MAX_24_BITS = 0xffffff;
const MAX_32_BITS = 0xffffffff;

/** The address of one side of an RC connection, as both sides exchange it. */
export interface ConnectionAddress {
  gid: string;
  qpNum: number;
  /** The first packet sequence number that this side sends. */
  psn: number;
  /** The port's active MTU, as the enumeration of the verbs (1 is 256 bytes, 5 is 4096). */
  mtu: number;
}

/** Memory that the peer may write to or read from. */
export interface RemoteRegion {
  addr: bigint;
  rkey: number;
  length: number;
}

export function connectionAddress(fields: Fields): ConnectionAddress {
  const mtu = fields.integer('mtu', 5);
  if (mtu === 0) throw new Error("the peer's mtu is 0: 1 to 5 is allowed");
  return {
    gid: fields.text('gid'),
    qpNum: fields.integer('qpNum', MAX_24_BITS),
    psn: fields.integer('psn', MAX_24_BITS),
    mtu,
  };
}

export function remoteRegion(fields: Fields): RemoteRegion {
  return { addr: fields.u64('addr'), rkey: fields.integer('rkey', MAX_32_BITS), length: fields.integer('length') };
}

/** The form of a region that JSON can carry. */
export function regionMessage({ addr, rkey, length }: RemoteRegion): Record<string, unknown> {
  return { addr: `0x${addr.toString(16)}`, rkey, length };
}
