import { decimal, hex, type LayerReader } from './layer-reader.js';
import { type Extension, type Opcode, opcodeOf } from './opcodes.js';

/** The values of a packet's transport headers. */
export interface Transport {
  /** Undefined for a number without an operation. */
  opcode: Opcode | undefined;
  destQpn: number;
  psn: number;
  ackRequest: boolean;
  pad: number;
  /** DETH */
  srcQpn?: number;
  /** RETH: bytes of the whole message. */
  dmaLength?: number;
  /** AETH */
  syndrome?: number;
  msn?: number;
}

export function baseTransport(layer: LayerReader): Transport {
  const number = Number(layer.field('opcode', 8, hex, (code) => opcodeOf(Number(code))?.name ?? 'unknown'));
  layer.field('solicited event', 1);
  layer.field('migration state', 1);
  const pad = layer.field('pad count', 2, decimal, 'bytes behind the data');
  layer.field('transport version', 4);
  layer.field('partition key', 16, hex);
  layer.field('FECN', 1, decimal, (bit) => (bit === 1n ? 'congestion was met' : undefined));
  layer.field('BECN', 1, decimal, (bit) => (bit === 1n ? 'send more slowly' : undefined));
  layer.field('reserved', 6);
  const destQpn = layer.field('destination QP', 24, hex);
  const ackRequest = layer.field('acknowledge request', 1);
  layer.field('reserved', 7);
  const psn = layer.field('PSN', 24, hex, 'packet sequence number');
  return {
    opcode: opcodeOf(number),
    destQpn: Number(destQpn),
    psn: Number(psn),
    ackRequest: ackRequest === 1n,
    pad: Number(pad),
  };
}

/** The times of an RNR NAK (IBTA 9.7.5.2.8). */
const RNR_MILLISECONDS = [
  655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92, 2.56, 3.84, 5.12,
  7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
];

/** What an AETH says. The kind is in bits 6 and 5 of the syndrome, the value in bits 4 to 0 (IBTA 9.7.5.2). */
export function syndromeText(syndrome: number): string {
  const value = syndrome & 0x1f;
  if ((syndrome & 0x60) === 0) return 'ACK';
  if ((syndrome & 0x60) === 0x20) return `RNR NAK: no receive was posted, wait ${RNR_MILLISECONDS[value] ?? 0} ms`;
  const codes = ['PSN sequence error', 'invalid request', 'remote access error', 'remote operational error'];
  return `NAK: ${codes[value] ?? `code ${value}`}`;
}

/** Reads an extension header and keeps the values that matter for the course of a conversation. */
export const EXTENSIONS: Readonly<Record<Extension, (layer: LayerReader, transport: Transport) => void>> = {
  XRCETH: (layer) => {
    layer.field('reserved', 8);
    layer.field('XRC SRQ', 24, hex);
  },
  DETH: (layer, transport) => {
    layer.field('queue key', 32, hex);
    layer.field('reserved', 8);
    transport.srcQpn = Number(layer.field('source QP', 24, hex));
  },
  FETH: (layer) => {
    layer.field('reserved', 26);
    layer.field('selectivity', 2, decimal, (value) => ['a range', 'the whole region'][Number(value)]);
    layer.field('placement', 4, hex, (value) => ({ 1: 'visible', 2: 'persistent' })[Number(value)]);
  },
  RETH: (layer, transport) => {
    layer.field('virtual address', 64, hex, 'remoteAddr of the work request');
    layer.field('remote key', 32, hex, 'rkey of the work request');
    transport.dmaLength = Number(layer.field('DMA length', 32, decimal, 'bytes'));
  },
  AtomicETH: (layer) => {
    layer.field('virtual address', 64, hex, 'remoteAddr of the work request');
    layer.field('remote key', 32, hex, 'rkey of the work request');
    layer.field('swap or add', 64, hex);
    layer.field('compare', 64, hex);
  },
  AETH: (layer, transport) => {
    const text = (value: bigint) => syndromeText(Number(value));
    const syndrome = Number(layer.field('syndrome', 8, hex, text));
    transport.msn = Number(layer.field('MSN', 24, decimal, 'messages completed'));
    transport.syndrome = syndrome;
  },
  AtomicAckETH: (layer) => {
    layer.field('original data', 64, hex, 'the value before the operation');
  },
  ImmDt: (layer) => {
    layer.field('immediate', 32, hex, "immData of the peer's completion");
  },
  IETH: (layer) => {
    layer.field('remote key', 32, hex, 'invalidated at the receiver');
  },
};

/** The names of the connection manager's messages, by the attribute of their MAD. */
const CM_MESSAGES: Readonly<Record<number, string>> = {
  0x10: 'REQ: request for a connection',
  0x11: 'MRA: more time is needed',
  0x12: 'REJ: rejected',
  0x13: 'REP: reply',
  0x14: 'RTU: ready to use',
  0x15: 'DREQ: request to disconnect',
  0x16: 'DREP: reply to a disconnect',
  0x17: 'SIDR_REQ: request for a datagram service',
  0x18: 'SIDR_REP: reply for a datagram service',
};
const CM_CLASS = 0x07n;

/** The header of a management datagram, which goes to queue pair 1. Returns what it is. */
export function managementDatagram(layer: LayerReader): string | undefined {
  layer.field('base version', 8);
  const type = layer.field('management class', 8, hex, (value) =>
    value === CM_CLASS ? 'connection manager' : undefined,
  );
  layer.field('class version', 8);
  layer.field('method', 8, hex);
  layer.field('status', 16, hex);
  layer.field('class specific', 16, hex);
  layer.field('transaction', 64, hex);
  const attribute = layer.field('attribute', 16, hex, (value) =>
    type === CM_CLASS ? CM_MESSAGES[Number(value)] : undefined,
  );
  layer.field('reserved', 16);
  layer.field('attribute modifier', 32, hex);
  const message = type === CM_CLASS ? CM_MESSAGES[Number(attribute)] : undefined;
  return message === undefined ? undefined : `CM ${message}`;
}
