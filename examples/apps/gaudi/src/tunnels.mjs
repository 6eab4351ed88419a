import { EncapType } from '@verbs/hbl';

/** @import { EncapAttr } from '@verbs/hbl' */

/** Bytes of a header: a Gaudi2 takes no other size. */
const HEADER = 32;

/** The header of each kind of tunnel, as the device puts it in front of every packet. */
export const tunnels = ['vxlan', 'gre'];

/**
 * @param {string} kind one of `tunnels`
 * @param {{ portNum: number, id: number }} port `id` is the tunnel's number, of 24 bits
 * @returns {EncapAttr}
 */
export function tunnelOf(kind, { portNum, id }) {
  const header = new Uint8Array(HEADER);
  const number = [id >>> 16, (id >>> 8) & 0xff, id & 0xff];
  if (kind === 'vxlan') {
    header.set([0x08, 0, 0, 0, ...number, 0]); // the flag of a valid VNI, and the VNI
    return { portNum, encapType: EncapType.ENC_OVER_UDP, udpDstPort: 4789, header };
  }
  header.set([0x20, 0, 0x65, 0x58, 0, ...number]); // a key, the protocol of Ethernet frames
  return { portNum, encapType: EncapType.ENC_OVER_IPV4, ipProto: 47, header };
}
