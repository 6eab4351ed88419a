import { type Explanation, explain } from './explain.js';
import { icrcIsRight, transportBegins, transportIsSealed } from './icrc.js';

/** A packet explained, and whether its checksum is right (undefined: it cannot be told). */
export interface Dissection extends Explanation {
  icrc: boolean | undefined;
}

/**
 * Explains a packet of a capture.
 *
 * @param length bytes on the wire, if the capture holds fewer
 */
export function dissect(packet: Uint8Array, link: 'ip' | 'ethernet', length = packet.length): Dissection {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.length);
  const explanation = explain(packet, {
    link,
    length,
    isTransport: (place) => transportBegins(view, packet.length, place),
    isSealed: (place) => transportIsSealed(view, packet.length, place),
  });
  const { place } = explanation;
  return { ...explanation, icrc: place === undefined ? undefined : icrcIsRight(view, packet.length, place) };
}
