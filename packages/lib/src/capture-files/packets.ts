import { FrameReader } from './frame-reader.js';
import type { Direction } from './frame.js';

export interface CapturedPacket {
  direction: Direction | undefined;
  /** Bytes on the wire, from the IP header on; the capture may hold fewer. */
  length: number;
  /** The captured bytes. */
  data: Uint8Array;
}

/** All packets of a capture of the NIC, as copies. */
export function packets(path: string): CapturedPacket[] {
  using reader = new FrameReader(path, { rawIp: true, cutOff: 'read' });
  return Array.from(reader.records(), ({ direction, length, bytes }) => ({ direction, length, data: bytes.slice() }));
}
