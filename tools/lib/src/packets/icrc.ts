import { crc32 } from 'node:zlib';
import type { Candidate } from './explain.js';

const BTH_BYTES = 12;
const ICRC_BYTES = 4;
/** In place of the local route header, which RoCE v2 does not have. */
const NO_ROUTE_HEADER = new Uint8Array(8).fill(0xff);
const UDP_BYTES = 8;

/**
 * Whether the invariant CRC of an RDMA packet is right: over the network headers without the fields that routers change,
 * and over everything from the BTH on. Undefined where the capture does not hold the whole packet.
 */
export function icrcIsRight(packet: Uint8Array, place: Candidate): boolean | undefined {
  const { network, networkSize, at, end } = place;
  if (end > packet.length) return undefined;
  const sum = end - ICRC_BYTES;
  if (at + BTH_BYTES > sum) return false;
  const headers = Uint8Array.from([
    ...packet.subarray(network, network + networkSize),
    ...packet.subarray(at, at + BTH_BYTES),
  ]);
  const fill = (...offsets: number[]) => {
    for (const offset of offsets) headers[offset] = 0xff;
  };
  let ip = 40;
  if ((headers[0] ?? 0) >> 4 === 4) {
    ip = ((headers[0] ?? 0) & 0x0f) * 4;
    fill(1, 8, 10, 11); // type of service, time to live, checksum
  } else {
    headers[0] = (headers[0] ?? 0) | 0x0f;
    fill(1, 2, 3, 7); // traffic class, flow label, hop limit
  }
  if (networkSize === ip + UDP_BYTES) fill(ip + 6, ip + 7); // checksum
  fill(networkSize + 4); // BTH: FECN, BECN, reserved
  const crc = crc32(packet.subarray(at + BTH_BYTES, sum), crc32(headers, crc32(NO_ROUTE_HEADER)));
  return new DataView(packet.buffer, packet.byteOffset + sum, ICRC_BYTES).getUint32(0, true) === crc;
}
