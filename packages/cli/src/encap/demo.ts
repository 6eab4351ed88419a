import { dissect, type Layer } from '@verbs/lib/packets';
import type { Delivery } from '@verbs/lib/tunnel';
import { plural } from '../text.js';

/** A delivery with its packets explained. */
export interface ExplainedDelivery extends Omit<Delivery, 'packets'> {
  packets: { direction: string; bytes: string; layers: Layer[] }[];
}

export function explained(delivery: Delivery): ExplainedDelivery {
  return {
    ...delivery,
    packets: delivery.packets.map(({ direction = 'unknown', data }) => ({
      direction,
      bytes: hexBytes(data),
      layers: dissect(data, 'ip').layers,
    })),
  };
}

/** As JSON: bytes are hexadecimal text. */
export function deliveryJson({ packets, ...rest }: ExplainedDelivery): unknown {
  return {
    ...rest,
    packets: packets.map((packet) => ({
      ...packet,
      layers: packet.layers.map((layer) => ({ ...layer, bytes: hexBytes(layer.bytes) })),
    })),
  };
}

/** The request field by field, the other packets in a line each. */
export function deliveryText({ tunnel, from, to, arrived, packets }: ExplainedDelivery): string {
  const lines = [`${tunnel.toUpperCase()}: an RDMA WRITE from ${from} to ${to} arrived: ${JSON.stringify(arrived)}`];
  packets.forEach(({ direction, layers }, i) => {
    const size = layers.reduce((sum, { bytes }) => sum + bytes.length, 0);
    lines.push('', `packet ${i + 1}, ${direction}, ${size} bytes: ${layers.map(({ name }) => name).join(' | ')}`);
    if (direction === 'sent') lines.push(...layers.flatMap(layerLines));
  });
  return lines.join('\n');
}

export function layerLines({ name, offset, bytes, fields }: Layer): string[] {
  return [
    '',
    `  ${name}: ${plural(bytes.length, 'byte')} from ${offset}: ${hexBytes(bytes, ' ')}`,
    ...fields.map(({ name: field, bits, text, meaning }) =>
      `    ${field.padEnd(22)} ${String(bits).padStart(4)} bits  ${text.padEnd(18)} ${meaning ?? ''}`.trimEnd(),
    ),
  ];
}

function hexBytes(bytes: Uint8Array, separator = ''): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(separator);
}
