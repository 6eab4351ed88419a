import { describe, expect, it } from 'vitest';
import {
  createFlow,
  createFlowActionPacketReformat,
  createFlowMatcher,
  ether,
  FlowActionPacketReformatType as Type,
  FlowTableType as Table,
  geneve,
  gre,
  type Header,
  headers,
  ipv4,
  mpls,
  udp,
  vxlan,
} from '../src/index.js';
import { open } from './helpers/devices.js';
import { INNER, IPS, MACS, Port } from './helpers/frames.js';

const OUTER = [ether(MACS), ipv4({ ...IPS, dontFragment: true })];
const ETHERNET = '0150561920a7248a07a528c80800';

interface Vector {
  name: string;
  encap: number;
  decap: number;
  outer: Header[];
  /** Behind the Ethernet header. */
  bytes: string;
}

const VECTORS: Vector[] = [
  {
    name: 'VXLAN',
    encap: Type.L2_TO_L2_TUNNEL,
    decap: Type.L2_TUNNEL_TO_L2,
    outer: [...OUTER, udp(), vxlan({ vni: 7777777 })],
    bytes: '4500008800004000401134600101010102020202d69f12b5007400000800000076adf100',
  },
  {
    name: 'GENEVE',
    encap: Type.L2_TO_L2_TUNNEL,
    decap: Type.L2_TUNNEL_TO_L2,
    outer: [...OUTER, udp(), geneve({ vni: 2 })],
    bytes: '4500008800004000401134600101010102020202d69f17c1007400000000655800000200',
  },
  {
    name: 'GRE with Ethernet',
    encap: Type.L2_TO_L2_TUNNEL,
    decap: Type.L2_TUNNEL_TO_L2,
    outer: [...OUTER, gre({ key: 0x12345678, protocol: 0x6558 })],
    bytes: '4500008000004000402f344a01010101020202022000655812345678',
  },
  {
    name: 'GRE with IPv4',
    encap: Type.L2_TO_L3_TUNNEL,
    decap: Type.L3_TUNNEL_TO_L2,
    outer: [...OUTER, gre({ key: 0x12345678, protocol: 0x0800 })],
    bytes: '4500007200004000402f345801010101020202022000080012345678',
  },
  {
    name: 'MPLS over UDP',
    encap: Type.L2_TO_L3_TUNNEL,
    decap: Type.L3_TUNNEL_TO_L2,
    outer: [...OUTER, udp(), mpls({ label: 16, ttl: 64 })],
    bytes: '4500007600004000401134720101010102020202d69f19eb0062000000010140',
  },
];

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const isL3 = ({ encap }: Vector) => encap === Type.L2_TO_L3_TUNNEL;

describe.each(VECTORS)('$name', (vector) => {
  const { encap, decap, outer } = vector;
  const inside = isL3(vector) ? INNER.subarray(14) : INNER;
  const carried = ETHERNET + vector.bytes + hex(inside);

  it('on the wire is as in the vector', async () => {
    const port = new Port(open());
    createFlow(createFlowMatcher(port.ctx, { ftType: Table.NIC_RX }), {}, [port.qp]);
    const data = headers(...outer);
    const action = createFlowActionPacketReformat(port.ctx, { reformatType: encap, ftType: Table.NIC_TX, data });
    createFlow(createFlowMatcher(port.ctx, { ftType: Table.NIC_TX }), {}, [action]);
    await port.send(INNER);
    const frame = await port.receiveOne();
    expect(hex(frame.bytes)).toBe(carried);
    expect(frame.wc.byteLen).toBe(data.byteLength + inside.byteLength);
  });

  it('comes back as it was', async () => {
    const port = new Port(open());
    const mac = headers(ether({ dst: '02:00:00:00:00:02', src: '02:00:00:00:00:01', etherType: 0x0800 }));
    const back = createFlowActionPacketReformat(port.ctx, {
      reformatType: decap,
      ftType: Table.NIC_RX,
      ...(isL3(vector) && { data: mac }),
    });
    createFlow(createFlowMatcher(port.ctx, { ftType: Table.NIC_RX }), {}, [back, port.qp]);
    await port.send(Buffer.from(carried, 'hex'));
    const frame = await port.receiveOne();
    expect(hex(frame.bytes)).toBe(isL3(vector) ? hex(mac) + hex(INNER.subarray(14)) : hex(INNER));
  });
});
