import { validate } from '@verbs/core/provider';
import { macBytes, macText, type MacAddress } from '../base/addresses.js';
import type { ByteReader } from './bytes.js';
import { derived, EtherType, given, type Header } from './header.js';

/** What {@link ether} takes. */
export interface EtherFields {
  /** The destination: text like '02:00:00:00:00:01', or 6 bytes. */
  dst: MacAddress;
  /** The source: text or 6 bytes. */
  src: MacAddress;
  /** Default: what follows; IPv4 if nothing does. */
  etherType?: number;
}

/**
 * An Ethernet header, 14 bytes.
 *
 * @throws TypeError, RangeError for a field that is missing, misspelt or out of its range
 * @example
 * // What L3_TUNNEL_TO_L2 puts in front of the inner packet:
 * const data = headers(ether({ dst: '02:00:00:00:00:02', src: '02:00:00:00:00:01', etherType: 0x0800 }));
 */
export function ether(fields: EtherFields): Header {
  const { dst, src, etherType } = given(fields, 'ether', ['dst', 'src', 'etherType']);
  const to = macBytes(dst, 'ether.dst');
  const from = macBytes(src, 'ether.src');
  if (etherType !== undefined) validate.integer(etherType, 'ether.etherType', 0, 0xffff);
  return {
    name: 'ether',
    size: 14,
    announced: { etherType: EtherType.TEB },
    write: (writer, next) => {
      const type = derived(etherType, 'ether.etherType', 0xffff, next && follows(next, 'ether'), EtherType.IPV4);
      writer.put(to).put(from).u16(type);
    },
  };
}

/** What {@link vlan} takes. */
export interface VlanFields {
  /** 0 to 4095. */
  vid: number;
  /** Priority, 0 to 7; default 0. */
  pcp?: number;
  /** Drop eligible (CFI); default false. */
  dei?: boolean;
  /** What the header before calls it: 0x8100, the default, or 0x88a8 for an outer tag. */
  tpid?: number;
  /** What follows; default by the next header, IPv4 if there is none. */
  etherType?: number;
}

/** A VLAN tag, 4 bytes behind `ether()` or another tag. */
export function vlan(fields: VlanFields): Header {
  const all = given(fields, 'vlan', ['vid', 'pcp', 'dei', 'tpid', 'etherType']);
  const { etherType } = all;
  const vid = validate.integer(all['vid'], 'vlan.vid', 0, 0xfff);
  const pcp = validate.optional(all['pcp'], 'vlan.pcp', 7, 0);
  const dei = validate.boolean(all['dei'], 'vlan.dei', false);
  const tpid = validate.optional(all['tpid'], 'vlan.tpid', 0xffff, EtherType.VLAN);
  if (etherType !== undefined) validate.integer(etherType, 'vlan.etherType', 0, 0xffff);
  return {
    name: 'vlan',
    size: 4,
    announced: { etherType: tpid },
    write: (writer, next) => {
      const type = derived(etherType, 'vlan.etherType', 0xffff, next && follows(next, 'vlan'), EtherType.IPV4);
      writer.u16((pcp << 13) | (Number(dei) << 12) | vid).u16(type);
    },
  };
}

function follows(next: Header, name: string): number {
  const { etherType } = next.announced;
  // An Ethernet header has a type only within a tunnel.
  if (etherType === undefined || next.name === 'ether') {
    throw validate.valueError('headers', `have ${next.name} behind ${name}, which no EtherType stands for`);
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
