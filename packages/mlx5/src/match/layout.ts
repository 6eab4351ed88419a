/**
 * Where a field is: its first bit, counted from the most significant one of the part's first byte, and its width. A field
 * of one bit is a flag.
 */
export type Place =
  | readonly [bit: number, width: number]
  | readonly [bit: number, width: 48, kind: 'mac']
  | readonly [bit: number, width: 128, kind: 'ip'];

/** `fte_match_set_lyr2_4`: the headers of layer 2 to 4, of the outer packet or of the one within its tunnel. */
export const HEADERS = {
  /** Source MAC address. */
  smac: [0, 48, 'mac'],
  ethertype: [48, 16],
  /** Destination MAC address. */
  dmac: [64, 48, 'mac'],
  /** Of the first VLAN tag. */
  firstPrio: [112, 3],
  firstCfi: [115, 1],
  firstVid: [116, 12],
  ipProtocol: [128, 8],
  ipDscp: [136, 6],
  ipEcn: [142, 2],
  /** The first VLAN tag is a customer tag (0x8100). */
  cvlanTag: [144, 1],
  /** The first VLAN tag is a service tag (0x88a8). */
  svlanTag: [145, 1],
  /** A fragment, the first one too. */
  frag: [146, 1],
  /** 4 or 6. */
  ipVersion: [147, 4],
  /** 9 bits: NS, CWR, ECE, URG, ACK, PSH, RST, SYN, FIN. */
  tcpFlags: [151, 9],
  tcpSport: [160, 16],
  tcpDport: [176, 16],
  /** In units of 4 bytes. */
  ipv4Ihl: [208, 4],
  l3Ok: [212, 1],
  l4Ok: [213, 1],
  ipv4ChecksumOk: [214, 1],
  l4ChecksumOk: [215, 1],
  /** TTL of IPv4, hop limit of IPv6. */
  ttlHoplimit: [216, 8],
  udpSport: [224, 16],
  udpDport: [240, 16],
  /** IPv4 in the last 4 of its 16 bytes. Match `ipVersion` too, for an IPv6 address may end in the same ones. */
  srcIp: [256, 128, 'ip'],
  dstIp: [384, 128, 'ip'],
} as const satisfies Record<string, Place>;

/** `fte_match_set_misc`. */
export const MISC = {
  greCPresent: [0, 1],
  greKPresent: [2, 1],
  greSPresent: [3, 1],
  sourceVhcaPort: [4, 4],
  /** Number of the sending queue. */
  sourceSqn: [8, 24],
  sourceEswitchOwnerVhcaId: [32, 16],
  /** Of an e-switch: the vport that sends. */
  sourcePort: [48, 16],
  outerSecondPrio: [64, 3],
  outerSecondCfi: [67, 1],
  outerSecondVid: [68, 12],
  innerSecondPrio: [80, 3],
  innerSecondCfi: [83, 1],
  innerSecondVid: [84, 12],
  outerSecondCvlanTag: [96, 1],
  innerSecondCvlanTag: [97, 1],
  outerSecondSvlanTag: [98, 1],
  innerSecondSvlanTag: [99, 1],
  greProtocol: [112, 16],
  /** The whole key; of NVGRE the subnet in the upper 24 bits. */
  greKey: [128, 32],
  vxlanVni: [160, 24],
  /** Of a RoCE v2 packet. */
  bthOpcode: [184, 8],
  geneveVni: [192, 24],
  geneveTlvOption0Exist: [222, 1],
  geneveOam: [223, 1],
  outerIpv6FlowLabel: [236, 20],
  innerIpv6FlowLabel: [268, 20],
  /** In units of 4 bytes. */
  geneveOptLen: [298, 6],
  geneveProtocolType: [304, 16],
  /** Of a RoCE v2 packet. */
  bthDstQp: [328, 24],
  innerEspSpi: [352, 32],
  outerEspSpi: [384, 32],
} as const satisfies Record<string, Place>;

/** `fte_match_set_misc2`: MPLS labels and the registers that modify-header actions write. */
export const MISC2 = {
  outerFirstMplsLabel: [0, 20],
  outerFirstMplsExp: [20, 3],
  outerFirstMplsSBos: [23, 1],
  outerFirstMplsTtl: [24, 8],
  innerFirstMplsLabel: [32, 20],
  innerFirstMplsExp: [52, 3],
  innerFirstMplsSBos: [55, 1],
  innerFirstMplsTtl: [56, 8],
  outerFirstMplsOverGreLabel: [64, 20],
  outerFirstMplsOverGreExp: [84, 3],
  outerFirstMplsOverGreSBos: [87, 1],
  outerFirstMplsOverGreTtl: [88, 8],
  outerFirstMplsOverUdpLabel: [96, 20],
  outerFirstMplsOverUdpExp: [116, 3],
  outerFirstMplsOverUdpSBos: [119, 1],
  outerFirstMplsOverUdpTtl: [120, 8],
  metadataRegC7: [128, 32],
  metadataRegC6: [160, 32],
  metadataRegC5: [192, 32],
  metadataRegC4: [224, 32],
  metadataRegC3: [256, 32],
  metadataRegC2: [288, 32],
  metadataRegC1: [320, 32],
  metadataRegC0: [352, 32],
  metadataRegA: [384, 32],
  metadataRegB: [416, 32],
} as const satisfies Record<string, Place>;

/** `fte_match_set_misc3`: TCP numbers, VXLAN-GPE, ICMP, the GENEVE option that the device was told to look for, GTP-U. */
export const MISC3 = {
  innerTcpSeqNum: [0, 32],
  outerTcpSeqNum: [32, 32],
  innerTcpAckNum: [64, 32],
  outerTcpAckNum: [96, 32],
  outerVxlanGpeVni: [136, 24],
  outerVxlanGpeNextProtocol: [160, 8],
  outerVxlanGpeFlags: [168, 8],
  /** The 4 bytes behind type, code and checksum. */
  icmpHeaderData: [192, 32],
  icmpv6HeaderData: [224, 32],
  icmpType: [256, 8],
  icmpCode: [264, 8],
  icmpv6Type: [272, 8],
  icmpv6Code: [280, 8],
  geneveTlvOption0Data: [288, 32],
  gtpuTeid: [320, 32],
  gtpuMsgType: [352, 8],
  gtpuMsgFlags: [360, 8],
  /** The extension word: sequence number, N-PDU number, next type. */
  gtpuDw2: [384, 32],
  /** The first word of the first extension header. */
  gtpuFirstExtDw0: [416, 32],
  /** The first word of the header: flags, message type, length. */
  gtpuDw0: [448, 32],
} as const satisfies Record<string, Place>;

/** `fte_match_set_misc4`: samples of the programmable parser. */
export const MISC4 = {
  progSampleFieldValue0: [0, 32],
  progSampleFieldId0: [32, 32],
  progSampleFieldValue1: [64, 32],
  progSampleFieldId1: [96, 32],
  progSampleFieldValue2: [128, 32],
  progSampleFieldId2: [160, 32],
  progSampleFieldValue3: [192, 32],
  progSampleFieldId3: [224, 32],
  progSampleFieldValue4: [256, 32],
  progSampleFieldId4: [288, 32],
  progSampleFieldValue5: [320, 32],
  progSampleFieldId5: [352, 32],
  progSampleFieldValue6: [384, 32],
  progSampleFieldId6: [416, 32],
  progSampleFieldValue7: [448, 32],
  progSampleFieldId7: [480, 32],
} as const satisfies Record<string, Place>;

/** `fte_match_set_misc5`: words of a MACsec tag and of a tunnel header. */
export const MISC5 = {
  macsecTag0: [0, 32],
  macsecTag1: [32, 32],
  macsecTag2: [64, 32],
  macsecTag3: [96, 32],
  tunnelHeader0: [128, 32],
  tunnelHeader1: [160, 32],
  tunnelHeader2: [192, 32],
  tunnelHeader3: [224, 32],
} as const satisfies Record<string, Place>;

export const PART_BYTES = 64;

/** The parts of `fte_match_param` in their order; the index is both the place and the bit of `match_criteria_enable`. */
export const PARTS = {
  outer: HEADERS,
  misc: MISC,
  inner: HEADERS,
  misc2: MISC2,
  misc3: MISC3,
  misc4: MISC4,
  misc5: MISC5,
} as const;

export type PartName = keyof typeof PARTS;

export const PART_NAMES = Object.keys(PARTS) as PartName[];
