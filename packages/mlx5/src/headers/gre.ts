import { validate } from '@verbs/core/provider';
import type { ByteReader } from './bytes.js';
import { derived, EtherType, given, type Given, type Header, IpProtocol } from './header.js';

const U32 = 0xffffffff;
const CHECKSUM = 0x8000;
const KEY = 0x2000;
const SEQUENCE = 0x1000;

/** What {@link gre} takes. */
export interface GreFields {
  /** EtherType of what is carried. Default: what follows; Ethernet (0x6558) if nothing does. */
  protocol?: number;
  /** 32 bits; given, the K bit is set. */
  key?: number;
  /** Given, the C bit is set. No device computes it, and the 16 bits behind it are 0. */
  checksum?: number;
  /** 32 bits; given, the S bit is set. No device counts it up. */
  sequence?: number;
  /** Default 0. */
  version?: number;
}

/** A GRE header (RFC 2890): 4 bytes, and 4 for each of checksum, key and sequence number. IP protocol 47. */
export function gre(fields: GreFields = {}): Header {
  const all = given(fields, 'gre', ['protocol', 'key', 'checksum', 'sequence', 'version']);
  const { protocol } = all;
  const checksum = present(all, 'checksum', 0xffff);
  const key = present(all, 'key', U32);
  const sequence = present(all, 'sequence', U32);
  const version = validate.optional(all['version'], 'gre.version', 7, 0);
  if (protocol !== undefined) validate.integer(protocol, 'gre.protocol', 0, 0xffff);
  const parts = [checksum, key, sequence].filter((part) => part !== undefined).length;
  const flags =
    (checksum === undefined ? 0 : CHECKSUM) | (key === undefined ? 0 : KEY) | (sequence === undefined ? 0 : SEQUENCE);
  return {
    name: 'gre',
    size: 4 + 4 * parts,
    announced: { ipProtocol: IpProtocol.GRE },
    write: (writer, next) => {
      writer.u16(flags | version);
      writer.u16(derived(protocol, 'gre.protocol', 0xffff, next?.announced.etherType, EtherType.TEB));
      if (checksum !== undefined) writer.u16(checksum).u16(0);
      if (key !== undefined) writer.u32(key);
      if (sequence !== undefined) writer.u32(sequence);
    },
  };
}

function present(all: Given, name: string, max: number): number | undefined {
  return all[name] === undefined ? undefined : validate.integer(all[name], `gre.${name}`, 0, max);
}

/** What {@link nvgre} takes. */
export interface NvgreFields {
  /** Virtual subnet, 24 bits. */
  vsid: number;
  /** 8 bits, default 0: on encapsulation the device fills in its entropy. */
  flowId?: number;
}

/**
 * An NVGRE header (RFC 7637), 8 bytes; the inner Ethernet header follows.
 *
 * It is a GRE header with the subnet and the flow in its key, and `parseHeaders()` finds it as such.
 */
export function nvgre(fields: NvgreFields): Header {
  const all = given(fields, 'nvgre', ['vsid', 'flowId']);
  const vsid = validate.integer(all['vsid'], 'nvgre.vsid', 0, 0xffffff);
  const flowId = validate.optional(all['flowId'], 'nvgre.flowId', 255, 0);
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
