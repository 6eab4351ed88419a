import { type EncapAttr, EncapType } from '@verbs/hbl';

export const TUNNEL_NAMES = ['vxlan', 'gre'] as const;
export type TunnelName = (typeof TUNNEL_NAMES)[number];

const VNI = 42;

/** The attributes of `createEncap` for each tunnel. The device puts the user's header in front of every packet. */
export const TUNNELS: Readonly<Record<TunnelName, EncapAttr>> = {
  vxlan: {
    portNum: 1,
    encapType: EncapType.ENC_OVER_UDP,
    udpDstPort: 4789,
    // The flag for a valid VNI, and the VNI.
    header: Uint8Array.of(0x08, 0, 0, 0, 0, 0, VNI, 0),
  },
  gre: {
    portNum: 1,
    encapType: EncapType.ENC_OVER_IPV4,
    ipProto: 47,
    // No option, version 0, protocol type 0x6558.
    header: Uint8Array.of(0, 0, 0x65, 0x58),
  },
};
