import { maybe, or, u16, u32, u8, validate, fields, list, uint8Array } from '@verbs/core/provider';
import { copyOf } from '../base/bytes.js';
import type { ByteReader } from './bytes.js';
import { carried, type Header, TunnelPort } from './header.js';

const VERSION_1 = 0x20;
const PROTOCOL_GTP = 0x10;
const EXTENSION = 4;
const SEQUENCE = 2;
const N_PDU = 1;

/** The message type of a user's packet. */
export const GTPU_G_PDU = 255;

/** An extension header of GTP-U (3GPP TS 29.281, section 5.2). */
export interface GtpuExtension {
  /** For example 0x85, a PDU session container. Not 0, which ends the list. */
  type: number;
  /** The bytes between its length and the next type: 2, 6, 10 and so on, up to 1018. */
  content: Uint8Array;
}

/** The fields of {@link gtpu}. */
export interface GtpuFields {
  /** 32 bits. */
  teid: number;
  /** Default 255: a user's packet. */
  messageType?: number;
  /** Bytes behind the first 8 of this header. Default 0. */
  length?: number;
  /** 16 bits; sets the S bit, and the header has the extension word. */
  sequence?: number;
  /** 8 bits; sets the PN bit, and the header has the extension word. */
  nPdu?: number;
  /** Sets the E bit, and the header has the extension word, even for an empty list. */
  extensions?: readonly GtpuExtension[];
}

const checkExtension = fields({ type: u8(1), content: extensionBytes });

const checkGtpu = fields({
  teid: u32(),
  messageType: or(u8(), GTPU_G_PDU),
  length: maybe(u16()),
  sequence: maybe(u16()),
  nPdu: maybe(u8()),
  extensions: maybe(list(checkExtension)),
});

/** A GTP-U header (3GPP TS 29.281): 8 bytes, the extension word (4 bytes) and its extensions. UDP port 2152. */
export function gtpu(fields: GtpuFields): Header {
  const { teid, messageType, length, sequence, nPdu, extensions } = checkGtpu(fields, 'gtpu');
  const flags =
    (extensions === undefined ? 0 : EXTENSION) |
    (sequence === undefined ? 0 : SEQUENCE) |
    (nPdu === undefined ? 0 : N_PDU);
  const size = (extensions ?? []).reduce((sum, { content }) => sum + 2 + content.length, flags === 0 ? 8 : 12);
  return {
    name: 'gtpu',
    size,
    announced: { udpPort: TunnelPort.GTPU },
    write: (writer, next) => {
      carried(next, 'gtpu');
      writer
        .u8(VERSION_1 | PROTOCOL_GTP | flags)
        .u8(messageType)
        .u16(length ?? 0)
        .u32(teid);
      if (flags === 0) return;
      writer.u16(sequence ?? 0).u8(nPdu ?? 0);
      for (const { type, content } of extensions ?? []) {
        writer
          .u8(type)
          .u8((content.length + 2) / 4)
          .put(content);
      }
      writer.u8(0);
    },
    complete: (bytes) => {
      if (length === undefined) {
        new DataView(bytes.buffer, bytes.byteOffset, 8).setUint16(2, bytes.length - 8);
      }
    },
  };
}

function extensionBytes(value: unknown, path: string): Uint8Array {
  const content = uint8Array(value, path);
  if (content.byteLength % 4 !== 2 || content.byteLength > 1018) {
    throw validate.valueError(path, `must have 2, 6, 10 … 1018 bytes, not ${content.byteLength}`);
  }
  return copyOf(content);
}

export function readGtpu(from: ByteReader): GtpuFields {
  const flags = from.u8();
  const fields: GtpuFields = { messageType: from.u8(), length: from.u16(), teid: from.u32() };
  if ((flags & (EXTENSION | SEQUENCE | N_PDU)) === 0) return fields;
  const sequence = from.u16();
  const nPdu = from.u8();
  let next = from.u8();
  if ((flags & SEQUENCE) !== 0) fields.sequence = sequence;
  if ((flags & N_PDU) !== 0) fields.nPdu = nPdu;
  if ((flags & EXTENSION) === 0) return fields;
  const extensions: GtpuExtension[] = [];
  while (next !== 0) {
    const type = next;
    // A length of 0 is none: nothing can be read after it.
    const words = Math.max(from.u8(), 1);
    extensions.push({ type, content: from.take(words * 4 - 2) });
    next = from.u8();
  }
  return { ...fields, extensions };
}
