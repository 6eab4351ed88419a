import { fields, flag, maybe, or, u20, u24, u3, u8, validate } from '@verbs/core/provider';
import type { ByteReader } from './bytes.js';
import { carried, type Header, IpProtocol, EtherType, TunnelPort } from './header.js';

/** The flag of the generic protocol extension: a field of the header says what follows. */
const GPE = 0x04;

/** The fields of {@link vxlan}. */
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

const checkVxlan = fields({ vni: u24(), flags: or(u8(), 0x08), reserved1: or(u24(), 0), reserved2: or(u8(), 0) });

/** A VXLAN header, 8 bytes; the inner Ethernet header follows. UDP port 4789. */
export function vxlan(fields: VxlanFields): Header {
  const { vni, flags, reserved1, reserved2 } = checkVxlan(fields, 'vxlan');
  return {
    name: 'vxlan',
    size: 8,
    announced: { udpPort: TunnelPort.VXLAN },
    write: (writer, next) => {
      if (next !== undefined && next.name !== 'ether' && (flags & GPE) === 0) {
        throw validate.valueError('headers', `have ${next.name} behind vxlan, which carries Ethernet frames`);
      }
      carried(next, 'vxlan');
      writer.u8(flags).u24(reserved1).u24(vni).u8(reserved2);
    },
  };
}

export function readVxlan(from: ByteReader): Required<VxlanFields> {
  return { flags: from.u8(), reserved1: from.u24(), vni: from.u24(), reserved2: from.u8() };
}

/** The fields of {@link mpls}. */
export interface MplsFields {
  /** 20 bits. */
  label: number;
  /** Traffic class, 0 to 7; default 0. */
  exp?: number;
  /** Default: true unless another label follows. */
  bottomOfStack?: boolean;
  /** Default 64. */
  ttl?: number;
}

const checkMpls = fields({ label: u20(), exp: or(u3(), 0), bottomOfStack: maybe(flag()), ttl: or(u8(), 64) });

/** An MPLS label, 4 bytes; another label follows, or an IP header. UDP port 6635, or behind Ethernet, IP or GRE. */
export function mpls(fields: MplsFields): Header {
  const { label, exp, bottomOfStack, ttl } = checkMpls(fields, 'mpls');
  return {
    name: 'mpls',
    size: 4,
    announced: { etherType: EtherType.MPLS, ipProtocol: IpProtocol.MPLS, udpPort: TunnelPort.MPLS },
    write: (writer, next) => {
      carried(next, 'mpls');
      const bottom = bottomOfStack ?? next?.name !== 'mpls';
      writer.u24((label << 4) | (exp << 1) | Number(bottom)).u8(ttl);
    },
  };
}

export function readMpls(from: ByteReader): Required<MplsFields> {
  const word = from.u24();
  return { label: word >> 4, exp: (word >> 1) & 7, bottomOfStack: (word & 1) !== 0, ttl: from.u8() };
}
