import { validate } from '@verbs/core/provider';
import { type ByteReader, ByteWriter } from './bytes.js';
import { internetChecksum } from './checksum.js';
import { derived, given, type Header, IpProtocol } from './header.js';

/** What {@link udp} takes. */
export interface UdpFields {
  /** Default 0: on encapsulation the device fills in its entropy. */
  srcPort?: number;
  /** Default: the port of the tunnel header that follows. Must be given if none does. */
  dstPort?: number;
  /** Bytes, this header included. Default 0: the device fills it in. */
  length?: number;
  /** Default 0, none: a device never fills in that of a tunnel. */
  checksum?: number;
}

/** A UDP header, 8 bytes. */
export function udp(fields: UdpFields = {}): Header {
  const all = given(fields, 'udp', ['srcPort', 'dstPort', 'length', 'checksum']);
  const number = (name: string) => validate.optional(all[name], `udp.${name}`, 0xffff, 0);
  const [srcPort, length, checksum] = [number('srcPort'), number('length'), number('checksum')];
  if (all['dstPort'] !== undefined) number('dstPort');
  return {
    name: 'udp',
    size: 8,
    announced: { ipProtocol: IpProtocol.UDP },
    write: (writer, next) => {
      const dstPort = derived(all['dstPort'], 'udp.dstPort', 0xffff, next && follows(next));
      writer.u16(srcPort).u16(dstPort).u16(length).u16(checksum);
    },
    complete: (bytes, next, previous) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
      if (all['length'] === undefined) view.setUint16(4, bytes.length);
      // That of a tunnel stays 0.
      if (all['checksum'] !== undefined || next !== undefined || previous?.addresses === undefined) return;
      const pseudo = new ByteWriter(4).u16(view.getUint16(4)).u16(IpProtocol.UDP);
      // 0 would mean that there is none.
      view.setUint16(6, internetChecksum(...previous.addresses, pseudo.bytes, bytes) || 0xffff);
    },
  };
}

function follows(next: Header): number {
  const { udpPort } = next.announced;
  if (udpPort === undefined) {
    throw validate.valueError('udp.dstPort', `must be given: there is none that stands for ${next.name}`);
  }
  return udpPort;
}

export function readUdp(from: ByteReader): Required<UdpFields> {
  return { srcPort: from.u16(), dstPort: from.u16(), length: from.u16(), checksum: from.u16() };
}
