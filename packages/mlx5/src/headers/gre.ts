import { maybe, or, u16, u24, u3, u32, u8, fields } from '@verbs/core/provider';
import type { ByteReader } from './bytes.js';
import { carried, EtherType, type Header, IpProtocol } from './header.js';

const CHECKSUM = 0x8000;
const KEY = 0x2000;
const SEQUENCE = 0x1000;

/** The fields of {@link gre}. */
export interface GreFields {
  /** EtherType of the payload. Default: the next header's; Ethernet (0x6558) without one. */
  protocol?: number;
  /** 32 bits; sets the K bit. */
  key?: number;
  /** Sets the C bit. No device computes the checksum; the 16 bits behind it are 0. */
  checksum?: number;
  /** 32 bits; sets the S bit. No device increments it. */
  sequence?: number;
  /** Default 0. */
  version?: number;
}

const checkGre = fields({
  protocol: maybe(u16()),
  key: maybe(u32()),
  checksum: maybe(u16()),
  sequence: maybe(u32()),
  version: or(u3(), 0),
});

/** A GRE header (RFC 2890): 4 bytes, and 4 for each of checksum, key and sequence number. IP protocol 47. */
export function gre(fields: GreFields = {}): Header {
  const { protocol, key, checksum, sequence, version } = checkGre(fields, 'gre');
  const parts = [checksum, key, sequence].filter((part) => part !== undefined).length;
  const flags =
    (checksum === undefined ? 0 : CHECKSUM) | (key === undefined ? 0 : KEY) | (sequence === undefined ? 0 : SEQUENCE);
  return {
    name: 'gre',
    size: 4 + 4 * parts,
    announced: { ipProtocol: IpProtocol.GRE },
    write: (writer, next) => {
      writer.u16(flags | version);
      writer.u16(protocol ?? carried(next, 'gre') ?? EtherType.TEB);
      if (checksum !== undefined) writer.u16(checksum).u16(0);
      if (key !== undefined) writer.u32(key);
      if (sequence !== undefined) writer.u32(sequence);
    },
  };
}

/** The fields of {@link nvgre}. */
export interface NvgreFields {
  /** Virtual subnet, 24 bits. */
  vsid: number;
  /** 8 bits, default 0: on encapsulation the device fills in its entropy. */
  flowId?: number;
}

const checkNvgre = fields({ vsid: u24(), flowId: or(u8(), 0) });

/**
 * An NVGRE header (RFC 7637), 8 bytes; the inner Ethernet header follows.
 *
 * It is a GRE header with the subnet and the flow in its key; `parseHeaders()` reports a GRE header.
 */
export function nvgre(fields: NvgreFields): Header {
  const { vsid, flowId } = checkNvgre(fields, 'nvgre');
  return gre({ protocol: EtherType.TEB, key: vsid * 256 + flowId });
}

export function readGre(from: ByteReader): GreFields {
  const flags = from.u16();
  const fields: GreFields = { protocol: from.u16(), version: flags & 7 };
  if ((flags & CHECKSUM) !== 0) {
    fields.checksum = from.u16();
    from.u16();
  }
  if ((flags & KEY) !== 0) fields.key = from.u32();
  if ((flags & SEQUENCE) !== 0) fields.sequence = from.u32();
  return fields;
}
