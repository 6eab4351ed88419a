import { types } from 'node:util';
import { fields, u16, u24, u32, u8 } from '../base/fields.js';
import { gidText } from '../base/gid.js';
import type { NativeReceived } from '../base/native.js';
import { typeError, valueError } from '../base/validate.js';
import { WcFlags } from '../enums/index.js';

/** The sender of a datagram: a {@link WorkCompletion}, or an object with these fields of it. */
export interface ReceivedFrom {
  /** See {@link WcFlags}: GRH says whether there is a routing header. */
  wcFlags: WcFlags;
  /** The sender's queue pair, 24 bits. */
  srcQp: number;
  /** The sender's LID on InfiniBand, 16 bits. */
  slid: number;
  /** Service level, 0 to 15. */
  sl: number;
  /** The low bits of the LID that it was sent to, on InfiniBand. */
  dlidPathBits: number;
  /** Which of the port's partition keys it carried, an index. */
  pkeyIndex: number;
}

const sender = fields({
  slid: u16(),
  sl: u8(),
  dlidPathBits: u8(),
  srcQp: u24(),
  wcFlags: u32(),
  pkeyIndex: u16(),
});

const GRH_BYTES = 40;

/** Checks a completion and its routing header. The C calls read the header whenever the completion has the flag GRH. */
export function receivedFrom(
  wc: unknown,
  grh: unknown,
): { completion: NativeReceived; header: Uint8Array | undefined } {
  if (typeof wc !== 'object' || wc === null) throw typeError('wc', 'a WorkCompletion', wc);
  const { slid, sl, dlidPathBits, srcQp, wcFlags, pkeyIndex } = wc as ReceivedFrom;
  // A completion has more fields than these.
  const completion = sender({ slid, sl, dlidPathBits, srcQp, wcFlags, pkeyIndex }, 'wc');
  if (grh === undefined) {
    if ((completion.wcFlags & WcFlags.GRH) === 0) return { completion, header: undefined };
    throw typeError('grh', 'the first 40 bytes of the receive buffer, for wc.wcFlags has GRH', grh);
  }
  if (!types.isUint8Array(grh)) throw typeError('grh', 'a Uint8Array of 40 bytes', grh);
  if (grh.byteLength < GRH_BYTES) throw valueError('grh', `has ${grh.byteLength} bytes, not 40`);
  return { completion, header: Uint8Array.prototype.slice.call(grh, 0, GRH_BYTES) };
}

/** The GIDs that a routing header may be for: it is one of IPv6, or has an IPv4 header at its end, or both fit. */
export function destinationsOf(header: Uint8Array): string[] {
  const version = (at: number) => (header[at] ?? 0) >> 4;
  const four = new Uint8Array(16).fill(0xff, 10, 12);
  four.set(header.subarray(36, 40), 12);
  return [...(version(0) === 6 ? [gidText(header.slice(24, 40))] : []), ...(version(20) === 4 ? [gidText(four)] : [])];
}
