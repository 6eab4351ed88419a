import { type Layer, LayerReader, decimal, hex, ipv4 } from './fields.js';

const PROTOCOL_UDP = 17n;
const PROTOCOL_GRE = 47n;
const PORT_ROCE = 4791n;
const PORT_VXLAN = 4789n;
const ICRC_BYTES = 4;

/** The opcodes of an RC WRITE of one packet. */
const OPCODES: Readonly<Record<number, string>> = { 0x0a: 'RC RDMA WRITE Only', 0x11: 'RC Acknowledge' };

/**
 * Explains a packet of the model field by field: the outer headers, the tunnel header, the RDMA packet.
 *
 * @throws RangeError for a packet that is cut off, or of another kind
 */
export function explain(packet: Uint8Array): Layer[] {
  const layers: Layer[] = [];
  const read = (name: string, at: number, fields: (layer: LayerReader) => void): number => {
    const reader = new LayerReader(packet, name, at);
    fields(reader);
    layers.push(reader.layer);
    return reader.end;
  };

  let protocol = 0n;
  let at = read('outer IPv4', 0, (layer) => (protocol = outerIp(layer)));
  if (protocol === PROTOCOL_UDP) {
    let port = 0n;
    at = read('outer UDP', at, (layer) => (port = outerUdp(layer)));
    if (port === PORT_VXLAN) at = read('VXLAN', at, vxlan);
    else if (port !== PORT_ROCE) throw new RangeError(`no tunnel is known behind UDP port ${port}`);
  } else if (protocol === PROTOCOL_GRE) {
    at = read('GRE', at, gre);
  } else {
    throw new RangeError(`no tunnel is known behind IP protocol ${protocol}`);
  }

  let opcode = 0;
  let pad = 0;
  at = read('BTH', at, (layer) => ({ opcode, pad } = baseTransport(layer)));
  if (opcode === 0x0a) at = read('RETH', at, remoteAddress);
  else if (opcode === 0x11) at = read('AETH', at, acknowledgement);
  else throw new RangeError(`opcode 0x${opcode.toString(16)} is not explained here`);

  const data = packet.length - ICRC_BYTES - pad - at;
  if (data > 0)
    at = read('payload', at, (layer) => {
      layer.bytes('data', data, `${data} bytes for the remote address`);
    });
  if (pad > 0) at = read('padding', at, (layer) => layer.field('pad', pad * 8, hex, 'fills up to 4 bytes'));
  read('ICRC', at, (layer) =>
    layer.field('invariant CRC', 32, hex, 'over the outer headers and all from the BTH on, not over the tunnel header'),
  );
  return layers;
}

function outerIp(layer: LayerReader): bigint {
  layer.field('version', 4);
  layer.field('header length', 4, decimal, (words) => `${words * 4n} bytes`);
  layer.field('DSCP', 6);
  layer.field('ECN', 2, decimal, (ecn) => ['not capable', 'capable (1)', 'capable (0)', 'congestion'][Number(ecn)]);
  layer.field('total length', 16, decimal, 'bytes, this header included');
  layer.field('identification', 16, hex);
  layer.field('flags', 3, hex, (flags) => (flags === 2n ? 'do not fragment' : undefined));
  layer.field('fragment offset', 13);
  layer.field('time to live', 8, decimal, 'hops, the hopLimit of the queue pair');
  const protocol = layer.field('protocol', 8, decimal, (number) =>
    number === PROTOCOL_UDP ? 'UDP' : number === PROTOCOL_GRE ? 'GRE: ipProto of the encapsulation' : undefined,
  );
  layer.field('header checksum', 16, hex);
  layer.field('source', 32, ipv4, "ipv4Addr of the encapsulation; without it the port's own");
  layer.field('destination', 32, ipv4, "the peer's GID");
  return protocol;
}

function outerUdp(layer: LayerReader): bigint {
  layer.field('source port', 16, decimal, 'spreads connections over paths');
  const port = layer.field('destination port', 16, decimal, (number) =>
    number === PORT_VXLAN ? 'VXLAN: udpDstPort of the encapsulation' : number === PORT_ROCE ? 'RoCE v2' : undefined,
  );
  layer.field('length', 16, decimal, 'bytes, this header included');
  layer.field('checksum', 16, hex, (sum) => (sum === 0n ? 'none: the ICRC protects the packet' : undefined));
  return port;
}

function vxlan(layer: LayerReader): void {
  layer.field('flags', 8, hex, (flags) => ((flags & 8n) !== 0n ? 'the VNI is valid' : 'no VNI'));
  layer.field('reserved', 24);
  layer.field('VNI', 24, decimal, 'the virtual network');
  layer.field('reserved', 8);
}

function gre(layer: LayerReader): void {
  layer.field('checksum present', 1);
  layer.field('reserved', 12);
  layer.field('version', 3);
  layer.field('protocol type', 16, hex, "the user's; the RDMA packet follows directly");
}

function baseTransport(layer: LayerReader): { opcode: number; pad: number } {
  const opcode = layer.field('opcode', 8, hex, (code) => OPCODES[Number(code)]);
  layer.field('solicited event', 1);
  layer.field('migration state', 1);
  const pad = layer.field('pad count', 2, decimal, 'bytes behind the data');
  layer.field('transport version', 4);
  layer.field('partition key', 16, hex);
  layer.field('FECN, BECN, reserved', 8, hex);
  layer.field('destination QP', 24, hex);
  layer.field('acknowledge request', 1);
  layer.field('reserved', 7);
  layer.field('PSN', 24, hex, 'packet sequence number');
  return { opcode: Number(opcode), pad: Number(pad) };
}

function remoteAddress(layer: LayerReader): void {
  layer.field('virtual address', 64, hex, 'remoteAddr of the work request');
  layer.field('remote key', 32, hex, 'rkey of the work request');
  layer.field('DMA length', 32, decimal, 'bytes');
}

function acknowledgement(layer: LayerReader): void {
  layer.field('syndrome', 8, hex, (syndrome) => (syndrome >> 5n === 0n ? 'ACK' : 'no ACK'));
  layer.field('MSN', 24, decimal, 'messages completed');
}
