/** Bytes at the front, for headers, in which a received frame may differ from the sent one. */
export interface Fronts {
  /** At most, of the frame that was sent. */
  sent: number;
  /** At most, of the frame that arrived. */
  arrived: number;
}

/**
 * For each frame that arrived, the index of the frame that was sent. Both lists are in order, but some sent frames got
 * lost. Frames are matched by their ends, which no reformat action touches.
 */
export function pair(sent: readonly Uint8Array[], arrived: readonly Uint8Array[], fronts: Fronts): number[] {
  if (sent.length === arrived.length) return arrived.map((_, index) => index);
  let next = 0;
  return arrived.map((frame) => {
    const found = sent.findIndex((each, index) => index >= next && sameEnd(each, frame, fronts));
    const index = found === -1 ? Math.min(next, sent.length - 1) : found;
    next = index + 1;
    return index;
  });
}

function sameEnd(sent: Uint8Array, arrived: Uint8Array, fronts: Fronts): boolean {
  const common = Math.min(sent.length, arrived.length);
  if (sent.length - common > fronts.sent || arrived.length - common > fronts.arrived) return false;
  const size = Math.min(common, Math.max(sent.length - fronts.sent, arrived.length - fronts.arrived));
  return Buffer.compare(sent.subarray(sent.length - size), arrived.subarray(arrived.length - size)) === 0;
}
