import { fields, flag, maybe, or, u12, u16, u3, validate } from '@verbs/core/provider';
import { macBytes, macText, type MacAddress } from '../base/addresses.js';
import type { ByteReader } from './bytes.js';
import { derived, EtherType, type Header } from './header.js';

/** The fields of {@link ether}. */
export interface EtherFields {
  /** The destination: text like '02:00:00:00:00:01', or 6 bytes. */
  dst: MacAddress;
  /** The source: text or 6 bytes. */
  src: MacAddress;
  /** Default: the next header's; IPv4 without one. */
  etherType?: number;
}

const checkEther = fields({ dst: macBytes, src: macBytes, etherType: maybe(u16()) });

/**
 * An Ethernet header, 14 bytes.
 *
 * @throws TypeError, RangeError for a field that is missing, misspelt or out of its range
 * @example
 * // For L3_TUNNEL_TO_L2, the header in front of the inner packet:
 * const data = headers(ether({ dst: '02:00:00:00:00:02', src: '02:00:00:00:00:01', etherType: 0x0800 }));
 */
export function ether(fields: EtherFields): Header {
  const { dst, src, etherType } = checkEther(fields, 'ether');
  return {
    name: 'ether',
    size: 14,
    announced: { etherType: EtherType.TEB },
    write: (writer, next) => {
      const type = derived(etherType, 'ether.etherType', next && follows(next, 'ether'), EtherType.IPV4);
      writer.put(dst).put(src).u16(type);
    },
  };
}

/** The fields of {@link vlan}. */
export interface VlanFields {
  /** 0 to 4095. */
  vid: number;
  /** Priority, 0 to 7; default 0. */
  pcp?: number;
  /** Drop eligible (CFI); default false. */
  dei?: boolean;
  /** The EtherType that announces the tag: 0x8100, the default, or 0x88a8 for an outer tag. */
  tpid?: number;
  /** Default: the next header's; IPv4 without one. */
  etherType?: number;
}

const checkVlan = fields({
  vid: u12(),
  pcp: or(u3(), 0),
  dei: flag(),
  tpid: or(u16(), EtherType.VLAN),
  etherType: maybe(u16()),
});

/** A VLAN tag, 4 bytes behind `ether()` or another tag. */
export function vlan(fields: VlanFields): Header {
  const { vid, pcp, dei, tpid, etherType } = checkVlan(fields, 'vlan');
  return {
    name: 'vlan',
    size: 4,
    announced: { etherType: tpid },
    write: (writer, next) => {
      const type = derived(etherType, 'vlan.etherType', next && follows(next, 'vlan'), EtherType.IPV4);
      writer.u16((pcp << 13) | (Number(dei) << 12) | vid).u16(type);
    },
  };
}

function follows(next: Header, name: string): number {
  const { etherType } = next.announced;
  // Only a tunnel announces an Ethernet header by an EtherType.
  if (etherType === undefined || next.name === 'ether') {
    throw validate.valueError('headers', `have ${next.name} behind ${name}, but no EtherType announces it`);
  }
  return etherType;
}

export function readEther(from: ByteReader): Required<EtherFields> {
  return { dst: macText(from.take(6)), src: macText(from.take(6)), etherType: from.u16() };
}

export function readVlan(from: ByteReader, tpid: number): Required<VlanFields> {
  const tci = from.u16();
  return { vid: tci & 0xfff, pcp: tci >> 13, dei: (tci & 0x1000) !== 0, tpid, etherType: from.u16() };
}
