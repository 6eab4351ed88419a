import { validate } from '@verbs/core/provider';
import type { ByteReader } from './bytes.js';
import { derived, EtherType, given, type Header, TunnelPort, words } from './header.js';

const MAX_OPTION_BYTES = 124;
const MAX_OPTIONS_BYTES = 252;

/** A TLV option of a GENEVE header (RFC 8926, section 3.5). */
export interface GeneveOption {
  /** 16 bits: whose type it is. */
  class: number;
  /** 8 bits; from 0x80 on, who does not know it must drop the packet. */
  type: number;
  /** 0 to 124 bytes in steps of 4, default none. */
  data?: Uint8Array;
  /** The three bits before the length, default 0. */
  reserved?: number;
}

/** What {@link geneve} takes. */
export interface GeneveFields {
  /** 24 bits. */
  vni: number;
  /** EtherType of what is carried. Default: what follows; Ethernet (0x6558) if nothing does. */
  protocol?: number;
  /** A control packet (O); default false. */
  oam?: boolean;
  /** Default: whether an option's type is 0x80 or more (C). */
  critical?: boolean;
  /** Up to 252 bytes. */
  options?: readonly GeneveOption[];
}

/** A GENEVE header: 8 bytes, and its options. UDP port 6081. */
export function geneve(fields: GeneveFields): Header {
  const all = given(fields, 'geneve', ['vni', 'protocol', 'oam', 'critical', 'options']);
  const { protocol } = all;
  const vni = validate.integer(all['vni'], 'geneve.vni', 0, 0xffffff);
  const oam = validate.boolean(all['oam'], 'geneve.oam', false);
  const options = readOptions(all['options']);
  const critical = validate.boolean(
    all['critical'],
    'geneve.critical',
    options.some(({ type }) => type >= 0x80),
  );
  if (protocol !== undefined) validate.integer(protocol, 'geneve.protocol', 0, 0xffff);
  const optionBytes = options.reduce((sum, { data }) => sum + 4 + data.length, 0);
  if (optionBytes > MAX_OPTIONS_BYTES) {
    throw validate.valueError('geneve.options', `have ${optionBytes} bytes together, at most ${MAX_OPTIONS_BYTES} fit`);
  }
  return {
    name: 'geneve',
    size: 8 + optionBytes,
    announced: { udpPort: TunnelPort.GENEVE },
    write: (writer, next) => {
      const type = derived(protocol, 'geneve.protocol', 0xffff, next?.announced.etherType, EtherType.TEB);
      writer.u8(optionBytes / 4).u8((Number(oam) << 7) | (Number(critical) << 6));
      writer.u16(type).u24(vni).u8(0);
      for (const option of options) {
        writer.u16(option.class).u8(option.type);
        writer.u8((option.reserved << 5) | (option.data.length / 4)).put(option.data);
      }
    },
  };
}

function readOptions(value: unknown): Required<GeneveOption>[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw validate.typeError('geneve.options', 'an array', value);
  return value.map((option: unknown, i) => {
    const path = `geneve.options[${i}]`;
    const all = given(option, path, ['class', 'type', 'data', 'reserved']);
    return {
      class: validate.integer(all['class'], `${path}.class`, 0, 0xffff),
      type: validate.integer(all['type'], `${path}.type`, 0, 255),
      data: words(all['data'], `${path}.data`, MAX_OPTION_BYTES),
      reserved: validate.optional(all['reserved'], `${path}.reserved`, 7, 0),
    };
  });
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
    options.push({ class: optionClass, type, reserved: length >> 5, data: from.take((length & 0x1f) * 4) });
  }
  return { vni, protocol, oam: (flags & 0x80) !== 0, critical: (flags & 0x40) !== 0, options };
}
