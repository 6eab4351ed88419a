import { types } from 'node:util';
import { validate } from '@verbs/core/provider';
import { ByteWriter } from './bytes.js';
import type { Header } from './header.js';

/**
 * The bytes of headers in a row, outermost first: the `data` of a packet reformat action.
 *
 * Each header announces the next one (EtherType, IP protocol, UDP port), unless that field was given. Lengths and checksums
 * that were not given are 0: the device fills them in.
 *
 * @throws TypeError for headers that cannot follow each other
 * @example
 * const data = headers(
 *   ether({ dst: '02:00:00:00:00:02', src: '02:00:00:00:00:01' }),
 *   ipv4({ src: '10.1.0.1', dst: '10.1.0.2' }),
 *   udp(),
 *   vxlan({ vni: 42 }),
 * );
 * const reformatType = FlowActionPacketReformatType.L2_TO_L2_TUNNEL;
 * createFlowActionPacketReformat(ctx, { reformatType, ftType: FlowTableType.NIC_TX, data });
 */
export function headers(...row: Header[]): Uint8Array {
  row.forEach((each: unknown, i) => {
    if (!isHeader(each)) throw validate.typeError(`headers[${i}]`, 'a header from ether(), ipv4() …', each);
  });
  const writer = new ByteWriter(row.reduce((sum, { size }) => sum + size, 0));
  row.forEach((header, i) => {
    header.write(writer, row[i + 1]);
  });
  return writer.bytes;
}

/**
 * A whole packet as a host sends it: headers with their lengths and checksums, and the payload.
 *
 * Given lengths and checksums stay. The UDP checksum of a tunnel stays 0.
 *
 * @example
 * const row = [
 *   ether({ dst: '02:00:00:00:00:02', src: '02:00:00:00:00:01' }),
 *   ipv4({ src: '10.0.0.1', dst: '10.0.0.2' }),
 *   udp({ srcPort: 1, dstPort: 2 }),
 * ];
 * const frame = packet(row, data);
 */
export function packet(row: readonly Header[], payload: Uint8Array = new Uint8Array()): Uint8Array {
  if (!types.isUint8Array(payload)) throw validate.typeError('payload', 'a Uint8Array', payload);
  const given: unknown = row;
  if (!Array.isArray(given)) throw validate.typeError('row', 'an array of headers from ether(), ipv4() …', row);
  const front = headers(...row);
  const bytes = new Uint8Array(front.length + payload.length);
  bytes.set(front);
  bytes.set(payload, front.length);
  let at = front.length;
  // From the inside, because a checksum covers the headers behind it.
  for (let i = row.length - 1; i >= 0; i -= 1) {
    const header = row[i];
    if (header === undefined) continue;
    at -= header.size;
    header.complete?.(bytes.subarray(at), row[i + 1], row[i - 1]);
  }
  return bytes;
}

function isHeader(value: unknown): value is Header {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Header>).write === 'function';
}
