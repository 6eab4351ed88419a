import { types } from 'node:util';
import { WcFlags } from '../enums/index.js';
import type { NativeReceived } from '../base/native.js';
import { integer, typeError, valueError } from '../base/validate.js';

/** What a completion says about its sender: a {@link WorkCompletion}, or an object with these fields of it. */
export interface ReceivedFrom {
  /** See {@link WcFlags}: GRH says whether there is a routing header. */
  wcFlags: number;
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

const GRH_BYTES = 40;

/** Checks a completion and its routing header. The C calls read the header whenever the completion says there is one. */
export function receivedFrom(
  wc: unknown,
  grh: unknown,
): { completion: NativeReceived; header: Uint8Array | undefined } {
  if (typeof wc !== 'object' || wc === null) throw typeError('wc', 'a WorkCompletion', wc);
  const given = wc as Record<string, unknown>;
  const field = (name: keyof ReceivedFrom, max: number) => integer(given[name], `wc.${name}`, 0, max);
  const completion = {
    slid: field('slid', 0xffff),
    sl: field('sl', 255),
    dlidPathBits: field('dlidPathBits', 255),
    srcQp: field('srcQp', 0xffffff),
    wcFlags: field('wcFlags', 0xffffffff),
    pkeyIndex: field('pkeyIndex', 0xffff),
  };
  if (grh === undefined) {
    if ((completion.wcFlags & WcFlags.GRH) === 0) return { completion, header: undefined };
    throw typeError('grh', 'the first 40 bytes of the receive buffer, for wc.wcFlags has GRH', grh);
  }
  if (!types.isUint8Array(grh)) throw typeError('grh', 'a Uint8Array of 40 bytes', grh);
  if (grh.byteLength < GRH_BYTES) throw valueError('grh', `has ${grh.byteLength} bytes, not 40`);
  return { completion, header: Uint8Array.prototype.slice.call(grh, 0, GRH_BYTES) };
}
