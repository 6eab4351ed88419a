import { fields, maybe, or, u16, validate } from '@verbs/core/provider';
import { type ByteReader, ByteWriter } from './bytes.js';
import { internetChecksum } from './checksum.js';
import { derived, type Header, IpProtocol } from './header.js';

/** The fields of {@link udp}. */
export interface UdpFields {
  /** Default 0: on encapsulation the device fills in its entropy. */
  srcPort?: number;
  /** Default: the port of the next header, a tunnel. Mandatory without one. */
  dstPort?: number;
  /** Bytes, this header included. Default 0: the device fills it in. */
  length?: number;
  /** Default 0, no checksum: devices do not compute the checksum of a tunnel. */
  checksum?: number;
}

const checkUdp = fields({ srcPort: or(u16(), 0), dstPort: maybe(u16()), length: maybe(u16()), checksum: maybe(u16()) });

/** A UDP header, 8 bytes. */
export function udp(fields: UdpFields = {}): Header {
  const { srcPort, dstPort, length, checksum } = checkUdp(fields, 'udp');
  return {
    name: 'udp',
    size: 8,
    announced: { ipProtocol: IpProtocol.UDP },
    write: (writer, next) => {
      const port = derived(dstPort, 'udp.dstPort', next && portOf(next));
      writer
        .u16(srcPort)
        .u16(port)
        .u16(length ?? 0)
        .u16(checksum ?? 0);
    },
    complete: (bytes, next, previous) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
      if (length === undefined) view.setUint16(4, bytes.length);
      // The checksum of a tunnel stays 0.
      if (checksum !== undefined || next !== undefined || previous?.addresses === undefined) return;
      const pseudo = new ByteWriter(4).u16(view.getUint16(4)).u16(IpProtocol.UDP);
      // 0 would mean: no checksum.
      view.setUint16(6, internetChecksum(...previous.addresses, pseudo.bytes, bytes) || 0xffff);
    },
  };
}

function portOf(next: Header): number {
  const { udpPort } = next.announced;
  if (udpPort === undefined) {
    throw validate.valueError('udp.dstPort', `must be given: no port announces ${next.name}`);
  }
  return udpPort;
}

export function readUdp(from: ByteReader): Required<UdpFields> {
  return { srcPort: from.u16(), dstPort: from.u16(), length: from.u16(), checksum: from.u16() };
}
