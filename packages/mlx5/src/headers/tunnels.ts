import { validate } from '@verbs/core/provider';
import type { ByteReader } from './bytes.js';
import { given, type Header, IpProtocol, EtherType, TunnelPort } from './header.js';

const U24 = 0xffffff;

/** What {@link vxlan} takes. */
export interface VxlanFields {
  /** 24 bits. */
  vni: number;
  /** Default 0x08: the VNI is valid. */
  flags?: number;
  /** The 24 bits before the VNI, for example the group of a policy; default 0. */
  reserved1?: number;
  /** The 8 bits behind the VNI, default 0. */
  reserved2?: number;
}

/** A VXLAN header, 8 bytes; the inner Ethernet header follows. UDP port 4789. */
export function vxlan(fields: VxlanFields): Header {
  const all = given(fields, 'vxlan', ['vni', 'flags', 'reserved1', 'reserved2']);
  const vni = validate.integer(all['vni'], 'vxlan.vni', 0, U24);
  const flags = validate.optional(all['flags'], 'vxlan.flags', 255, 0x08);
  const reserved1 = validate.optional(all['reserved1'], 'vxlan.reserved1', U24, 0);
  const reserved2 = validate.optional(all['reserved2'], 'vxlan.reserved2', 255, 0);
  return {
    name: 'vxlan',
    size: 8,
    announced: { udpPort: TunnelPort.VXLAN },
    write: (writer) => writer.u8(flags).u24(reserved1).u24(vni).u8(reserved2),
  };
}

export function readVxlan(from: ByteReader): Required<VxlanFields> {
  return { flags: from.u8(), reserved1: from.u24(), vni: from.u24(), reserved2: from.u8() };
}

/** What {@link mpls} takes. */
export interface MplsFields {
  /** 20 bits. */
  label: number;
  /** Traffic class, 0 to 7; default 0. */
  exp?: number;
  /** Default: whether no further label follows. */
  bottomOfStack?: boolean;
  /** Default 64. */
  ttl?: number;
}

/** An MPLS label, 4 bytes; another one follows, or an IP header. UDP port 6635, or behind Ethernet, IP or GRE. */
export function mpls(fields: MplsFields): Header {
  const all = given(fields, 'mpls', ['label', 'exp', 'bottomOfStack', 'ttl']);
  const label = validate.integer(all['label'], 'mpls.label', 0, 0xfffff);
  const exp = validate.optional(all['exp'], 'mpls.exp', 7, 0);
  const ttl = validate.optional(all['ttl'], 'mpls.ttl', 255, 64);
  if (all['bottomOfStack'] !== undefined) validate.boolean(all['bottomOfStack'], 'mpls.bottomOfStack', true);
  return {
    name: 'mpls',
    size: 4,
    announced: { etherType: EtherType.MPLS, ipProtocol: IpProtocol.MPLS, udpPort: TunnelPort.MPLS },
    write: (writer, next) => {
      const bottom = all['bottomOfStack'] ?? next?.name !== 'mpls';
      writer.u24((label << 4) | (exp << 1) | Number(bottom)).u8(ttl);
    },
  };
}

export function readMpls(from: ByteReader): Required<MplsFields> {
  const word = from.u24();
  return { label: word >> 4, exp: (word >> 1) & 7, bottomOfStack: (word & 1) !== 0, ttl: from.u8() };
}
