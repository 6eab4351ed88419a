import { type Explanation, explain } from './explain.js';
import { icrcIsRight } from './icrc.js';
import { opcodeOf } from './opcodes.js';

/** A packet explained, and whether its checksum is right (undefined: it cannot be told). */
export interface Dissection extends Explanation {
  icrc: boolean | undefined;
}

/**
 * Explains a packet of a capture. Behind a tunnel header the checksum tells whether an RDMA packet follows directly; where
 * the capture holds too little of the packet, whether the bytes look like one.
 *
 * @param length bytes on the wire, if the capture holds fewer
 */
export function dissect(packet: Uint8Array, link: 'ip' | 'ethernet', length = packet.length): Dissection {
  const explanation = explain(packet, {
    link,
    length,
    isTransport: (place) => {
      const right = icrcIsRight(packet, place);
      if (right !== undefined) return right;
      // A BTH of the default partition. An inner Ethernet header has an address in this place.
      const known = opcodeOf(packet[place.at] ?? 0xff) !== undefined;
      return known && packet[place.at + 2] === 0xff && packet[place.at + 3] === 0xff;
    },
  });
  const { place } = explanation;
  return { ...explanation, icrc: place === undefined ? undefined : icrcIsRight(packet, place) };
}
