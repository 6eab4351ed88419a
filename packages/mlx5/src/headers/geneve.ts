import { fields, flag, maybe, or, u16, u24, u3, u8, validate, list } from '@verbs/core/provider';
import type { ByteReader } from './bytes.js';
import { carried, EtherType, type Header, TunnelPort, words } from './header.js';

const MAX_OPTION_BYTES = 124;
const MAX_OPTIONS_BYTES = 252;

/** A TLV option of a GENEVE header (RFC 8926, section 3.5). */
export interface GeneveOption {
  /** 16 bits: the namespace of the type. */
  class: number;
  /** 8 bits; a receiver that does not know a type from 0x80 on must drop the packet. */
  type: number;
  /** 0 to 124 bytes in steps of 4, default none. */
  data?: Uint8Array;
  /** The three bits before the length, default 0. */
  reserved?: number;
}

/** The fields of {@link geneve}. */
export interface GeneveFields {
  /** 24 bits. */
  vni: number;
  /** EtherType of the payload. Default: the next header's; Ethernet (0x6558) without one. */
  protocol?: number;
  /** A control packet (O); default false. */
  oam?: boolean;
  /** The C bit. Default: true if an option's type is 0x80 or more. */
  critical?: boolean;
  /** Up to 252 bytes. */
  options?: readonly GeneveOption[];
}

const checkOption = fields({ class: u16(), type: u8(), data: words(MAX_OPTION_BYTES), reserved: or(u3(), 0) });

const checkGeneve = fields({
  vni: u24(),
  protocol: maybe(u16()),
  oam: flag(),
  critical: maybe(flag()),
  options: or(list(checkOption), []),
});

/** A GENEVE header: 8 bytes, and its options. UDP port 6081. */
export function geneve(fields: GeneveFields): Header {
  const { vni, protocol, oam, options, ...given } = checkGeneve(fields, 'geneve');
  const critical = given.critical ?? options.some(({ type }) => type >= 0x80);
  const optionBytes = options.reduce((sum, { data }) => sum + 4 + data.length, 0);
  if (optionBytes > MAX_OPTIONS_BYTES) {
    throw validate.valueError('geneve.options', `have ${optionBytes} bytes together, at most ${MAX_OPTIONS_BYTES} fit`);
  }
  return {
    name: 'geneve',
    size: 8 + optionBytes,
    announced: { udpPort: TunnelPort.GENEVE },
    write: (writer, next) => {
      const type = protocol ?? carried(next, 'geneve') ?? EtherType.TEB;
      writer.u8(optionBytes / 4).u8((Number(oam) << 7) | (Number(critical) << 6));
      writer.u16(type).u24(vni).u8(0);
      for (const option of options) {
        writer.u16(option.class).u8(option.type);
        writer.u8((option.reserved << 5) | (option.data.length / 4)).put(option.data);
      }
    },
  };
}

export function readGeneve(from: ByteReader): Required<GeneveFields> {
  const optionBytes = (from.u8() & 0x3f) * 4;
  const flags = from.u8();
  const protocol = from.u16();
  const vni = from.u24();
  from.u8();
  const options: Required<GeneveOption>[] = [];
  const end = from.at + optionBytes;
  while (from.at < end) {
    const [optionClass, type, length] = [from.u16(), from.u8(), from.u8()];
    // The payload begins where the header says, also behind an option that is longer than what is left for it.
    const data = from.take(Math.min((length & 0x1f) * 4, end - from.at));
    options.push({ class: optionClass, type, reserved: length >> 5, data });
  }
  return { vni, protocol, oam: (flags & 0x80) !== 0, critical: (flags & 0x40) !== 0, options };
}
