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
  /** 16 bits: of the payload, behind VLAN tags: 0x0800 is IPv4, 0x86dd IPv6. */
  ethertype: [48, 16],
  /** Destination MAC address. */
  dmac: [64, 48, 'mac'],
  /** Priority of the first VLAN tag, 3 bits. */
  firstPrio: [112, 3],
  /** Drop eligibility of the first VLAN tag. */
  firstCfi: [115, 1],
  /** Number of the first VLAN, 12 bits. */
  firstVid: [116, 12],
  /** 8 bits: 6 is TCP, 17 UDP, 47 GRE; of IPv6 the last next header. */
  ipProtocol: [128, 8],
  /** 6 bits. */
  ipDscp: [136, 6],
  /** 2 bits. */
  ipEcn: [142, 2],
  /** The first VLAN tag is a customer tag (0x8100). */
  cvlanTag: [144, 1],
  /** The first VLAN tag is a service tag (0x88a8). */
  svlanTag: [145, 1],
  /** A fragment, the first one too. */
  frag: [146, 1],
  /** 4 or 6; the packet must be IP. */
  ipVersion: [147, 4],
  /** 9 bits: NS, CWR, ECE, URG, ACK, PSH, RST, SYN, FIN. */
  tcpFlags: [151, 9],
  /** Source port of TCP. */
  tcpSport: [160, 16],
  /** Destination port of TCP. */
  tcpDport: [176, 16],
  /** Length of the IPv4 header, in units of 4 bytes: 5 without options. */
  ipv4Ihl: [208, 4],
  /** The header of layer 3 has no error. */
  l3Ok: [212, 1],
  /** The header of layer 4 has no error. */
  l4Ok: [213, 1],
  /** The checksum of IPv4 is right. */
  ipv4ChecksumOk: [214, 1],
  /** The checksum of TCP or UDP is right. */
  l4ChecksumOk: [215, 1],
  /** TTL of IPv4, hop limit of IPv6. */
  ttlHoplimit: [216, 8],
  /** Source port of UDP. */
  udpSport: [224, 16],
  /** Destination port of UDP; 4791 is RoCE v2, 4789 VXLAN. */
  udpDport: [240, 16],
  /**
   * Source address: IPv4 in the last 4 of its 16 bytes. Match `ipVersion` too, for an IPv6 address may end in the same
   * ones.
   */
  srcIp: [256, 128, 'ip'],
  /** Destination address, as `srcIp`. */
  dstIp: [384, 128, 'ip'],
} as const satisfies Record<string, Place>;

/** `fte_match_set_misc`. */
export const MISC = {
  /** GRE has a checksum. */
  greCPresent: [0, 1],
  /** GRE has a key. */
  greKPresent: [2, 1],
  /** GRE has a sequence number. */
  greSPresent: [3, 1],
  /** Number of the port that the sending function has. */
  sourceVhcaPort: [4, 4],
  /** Number of the sending queue, of packets that are sent. */
  sourceSqn: [8, 24],
  /** Of an e-switch: the function that owns the one `sourcePort` belongs to. */
  sourceEswitchOwnerVhcaId: [32, 16],
  /** Of an e-switch: the vport that sends. */
  sourcePort: [48, 16],
  /** Priority of the outer packet's second VLAN tag. */
  outerSecondPrio: [64, 3],
  /** Drop eligibility of the outer packet's second VLAN tag. */
  outerSecondCfi: [67, 1],
  /** Number of the outer packet's second VLAN. */
  outerSecondVid: [68, 12],
  /** Priority of the inner packet's second VLAN tag. */
  innerSecondPrio: [80, 3],
  /** Drop eligibility of the inner packet's second VLAN tag. */
  innerSecondCfi: [83, 1],
  /** Number of the inner packet's second VLAN. */
  innerSecondVid: [84, 12],
  /** The outer packet's second VLAN tag is a customer tag (0x8100). */
  outerSecondCvlanTag: [96, 1],
  /** The inner packet's second VLAN tag is a customer tag (0x8100). */
  innerSecondCvlanTag: [97, 1],
  /** The outer packet's second VLAN tag is a service tag (0x88a8). */
  outerSecondSvlanTag: [98, 1],
  /** The inner packet's second VLAN tag is a service tag (0x88a8). */
  innerSecondSvlanTag: [99, 1],
  /** Ethertype of what GRE carries: 0x6558 is Ethernet. */
  greProtocol: [112, 16],
  /** The whole key of GRE; of NVGRE the subnet in the upper 24 bits. */
  greKey: [128, 32],
  /** Network of VXLAN, 24 bits. */
  vxlanVni: [160, 24],
  /** Opcode of a RoCE v2 packet. */
  bthOpcode: [184, 8],
  /** Network of GENEVE, 24 bits. */
  geneveVni: [192, 24],
  /** The GENEVE option that the device was told to look for is there. */
  geneveTlvOption0Exist: [222, 1],
  /** GENEVE carries a control packet. */
  geneveOam: [223, 1],
  /** Flow label of the outer IPv6 header, 20 bits. */
  outerIpv6FlowLabel: [236, 20],
  /** Flow label of the inner IPv6 header, 20 bits. */
  innerIpv6FlowLabel: [268, 20],
  /** Length of GENEVE's options, in units of 4 bytes. */
  geneveOptLen: [298, 6],
  /** Ethertype of what GENEVE carries: 0x6558 is Ethernet. */
  geneveProtocolType: [304, 16],
  /** Destination queue pair of a RoCE v2 packet, 24 bits. */
  bthDstQp: [328, 24],
  /** Security parameters index of the inner ESP header. */
  innerEspSpi: [352, 32],
  /** Security parameters index of the outer ESP header. */
  outerEspSpi: [384, 32],
} as const satisfies Record<string, Place>;

/** `fte_match_set_misc2`: MPLS labels and the registers that modify-header actions write. */
export const MISC2 = {
  /** First label of the outer packet, 20 bits. */
  outerFirstMplsLabel: [0, 20],
  /** Traffic class of the first label of the outer packet, 3 bits. */
  outerFirstMplsExp: [20, 3],
  /** The first label of the outer packet is the last of the stack. */
  outerFirstMplsSBos: [23, 1],
  /** TTL of the first label of the outer packet. */
  outerFirstMplsTtl: [24, 8],
  /** First label of the inner packet, 20 bits. */
  innerFirstMplsLabel: [32, 20],
  /** Traffic class of the first label of the inner packet, 3 bits. */
  innerFirstMplsExp: [52, 3],
  /** The first label of the inner packet is the last of the stack. */
  innerFirstMplsSBos: [55, 1],
  /** TTL of the first label of the inner packet. */
  innerFirstMplsTtl: [56, 8],
  /** First label of MPLS over GRE, 20 bits. */
  outerFirstMplsOverGreLabel: [64, 20],
  /** Traffic class of the first label of MPLS over GRE, 3 bits. */
  outerFirstMplsOverGreExp: [84, 3],
  /** The first label of MPLS over GRE is the last of the stack. */
  outerFirstMplsOverGreSBos: [87, 1],
  /** TTL of the first label of MPLS over GRE. */
  outerFirstMplsOverGreTtl: [88, 8],
  /** First label of MPLS over UDP, 20 bits. */
  outerFirstMplsOverUdpLabel: [96, 20],
  /** Traffic class of the first label of MPLS over UDP, 3 bits. */
  outerFirstMplsOverUdpExp: [116, 3],
  /** The first label of MPLS over UDP is the last of the stack. */
  outerFirstMplsOverUdpSBos: [119, 1],
  /** TTL of the first label of MPLS over UDP. */
  outerFirstMplsOverUdpTtl: [120, 8],
  /** Register C7, which goes along with the packet from table to table. */
  metadataRegC7: [128, 32],
  /** Register C6, which goes along with the packet from table to table. */
  metadataRegC6: [160, 32],
  /** Register C5, which goes along with the packet from table to table. */
  metadataRegC5: [192, 32],
  /** Register C4, which goes along with the packet from table to table. */
  metadataRegC4: [224, 32],
  /** Register C3, which goes along with the packet from table to table. */
  metadataRegC3: [256, 32],
  /** Register C2, which goes along with the packet from table to table. */
  metadataRegC2: [288, 32],
  /** Register C1, which goes along with the packet from table to table. */
  metadataRegC1: [320, 32],
  /** Register C0, which goes along with the packet from table to table. */
  metadataRegC0: [352, 32],
  /** Register A, of packets that are sent: the program's own word of the send request. */
  metadataRegA: [384, 32],
  /** Register B, of packets that are received: the completion's word. */
  metadataRegB: [416, 32],
} as const satisfies Record<string, Place>;

/** `fte_match_set_misc3`: TCP numbers, VXLAN-GPE, ICMP, the GENEVE option that the device was told to look for, GTP-U. */
export const MISC3 = {
  /** Sequence number of the inner TCP header. */
  innerTcpSeqNum: [0, 32],
  /** Sequence number of the outer TCP header. */
  outerTcpSeqNum: [32, 32],
  /** Acknowledgement number of the inner TCP header. */
  innerTcpAckNum: [64, 32],
  /** Acknowledgement number of the outer TCP header. */
  outerTcpAckNum: [96, 32],
  /** Network of VXLAN-GPE, 24 bits. */
  outerVxlanGpeVni: [136, 24],
  /** What VXLAN-GPE carries: 1 is IPv4, 2 IPv6, 3 Ethernet. */
  outerVxlanGpeNextProtocol: [160, 8],
  /** Flags of VXLAN-GPE. */
  outerVxlanGpeFlags: [168, 8],
  /** ICMP: the 4 bytes behind type, code and checksum. */
  icmpHeaderData: [192, 32],
  /** ICMPv6: the 4 bytes behind type, code and checksum. */
  icmpv6HeaderData: [224, 32],
  /** Type of ICMP: 8 is an echo request. */
  icmpType: [256, 8],
  /** Code of ICMP. */
  icmpCode: [264, 8],
  /** Type of ICMPv6: 128 is an echo request. */
  icmpv6Type: [272, 8],
  /** Code of ICMPv6. */
  icmpv6Code: [280, 8],
  /** The data of the GENEVE option that the device was told to look for. */
  geneveTlvOption0Data: [288, 32],
  /** Tunnel endpoint identifier of GTP-U. */
  gtpuTeid: [320, 32],
  /** Message type of GTP-U: 255 carries a packet. */
  gtpuMsgType: [352, 8],
  /** Flags of GTP-U, the first byte of its header. */
  gtpuMsgFlags: [360, 8],
  /** The extension word of GTP-U: sequence number, N-PDU number, next type. */
  gtpuDw2: [384, 32],
  /** The first word of GTP-U's first extension header. */
  gtpuFirstExtDw0: [416, 32],
  /** The first word of GTP-U's header: flags, message type, length. */
  gtpuDw0: [448, 32],
} as const satisfies Record<string, Place>;

/** `fte_match_set_misc4`: samples of the programmable parser. */
export const MISC4 = {
  /** What sample 0 must be. */
  progSampleFieldValue0: [0, 32],
  /** Which sample `progSampleFieldValue0` is compared with: the number that the parser's node got for it. */
  progSampleFieldId0: [32, 32],
  /** What sample 1 must be. */
  progSampleFieldValue1: [64, 32],
  /** Which sample `progSampleFieldValue1` is compared with: the number that the parser's node got for it. */
  progSampleFieldId1: [96, 32],
  /** What sample 2 must be. */
  progSampleFieldValue2: [128, 32],
  /** Which sample `progSampleFieldValue2` is compared with: the number that the parser's node got for it. */
  progSampleFieldId2: [160, 32],
  /** What sample 3 must be. */
  progSampleFieldValue3: [192, 32],
  /** Which sample `progSampleFieldValue3` is compared with: the number that the parser's node got for it. */
  progSampleFieldId3: [224, 32],
  /** What sample 4 must be. */
  progSampleFieldValue4: [256, 32],
  /** Which sample `progSampleFieldValue4` is compared with: the number that the parser's node got for it. */
  progSampleFieldId4: [288, 32],
  /** What sample 5 must be. */
  progSampleFieldValue5: [320, 32],
  /** Which sample `progSampleFieldValue5` is compared with: the number that the parser's node got for it. */
  progSampleFieldId5: [352, 32],
  /** What sample 6 must be. */
  progSampleFieldValue6: [384, 32],
  /** Which sample `progSampleFieldValue6` is compared with: the number that the parser's node got for it. */
  progSampleFieldId6: [416, 32],
  /** What sample 7 must be. */
  progSampleFieldValue7: [448, 32],
  /** Which sample `progSampleFieldValue7` is compared with: the number that the parser's node got for it. */
  progSampleFieldId7: [480, 32],
} as const satisfies Record<string, Place>;

/** `fte_match_set_misc5`: words of a MACsec tag and of a tunnel header. */
export const MISC5 = {
  /** Word 0 of the MACsec tag. */
  macsecTag0: [0, 32],
  /** Word 1 of the MACsec tag. */
  macsecTag1: [32, 32],
  /** Word 2 of the MACsec tag. */
  macsecTag2: [64, 32],
  /** Word 3 of the MACsec tag. */
  macsecTag3: [96, 32],
  /** Word 0 of the tunnel header: 4 bytes, the first being the most significant. */
  tunnelHeader0: [128, 32],
  /** Word 1 of the tunnel header: 4 bytes, the first being the most significant. */
  tunnelHeader1: [160, 32],
  /** Word 2 of the tunnel header: 4 bytes, the first being the most significant. */
  tunnelHeader2: [192, 32],
  /** Word 3 of the tunnel header: 4 bytes, the first being the most significant. */
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
