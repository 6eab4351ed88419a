import type { Fields } from './fields.js';

const MAX_32_BITS = 0xffffffff;

/** Memory that the peer may write to or read from. */
export interface RemoteRegion {
  addr: bigint;
  rkey: number;
  length: number;
}

/** Reads what `mr.remote()` of the peer gave. */
export function remoteRegion(fields: Fields): RemoteRegion {
  return { addr: fields.u64('addr'), rkey: fields.integer('rkey', MAX_32_BITS), length: fields.integer('length') };
}
