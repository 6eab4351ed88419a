import { describe, expect, it } from 'vitest';
import {
  createFlow,
  createFlowActionModifyHeader,
  createFlowActionPacketReformat,
  createFlowMatcher,
  devx,
  ether,
  FlowActionPacketReformatType as Type,
  FlowActionType,
  FlowTableType as Table,
  headers,
  ipv4,
  udp,
  vxlan,
} from '../src/index.js';
import { open } from './helpers/devices.js';
import { INNER, IPS, MACS, Port } from './helpers/frames.js';

const rx = (port: Port, attr = {}) => createFlowMatcher(port.ctx, { ftType: Table.NIC_RX, ...attr });
const tx = (port: Port, attr = {}) => createFlowMatcher(port.ctx, { ftType: Table.NIC_TX, ...attr });

describe('frames', () => {
  it('reach no queue pair without a flow, and the one of the flow', async () => {
    const port = new Port(open());
    await port.send(INNER);
    expect(await port.drain()).toEqual([]);
    using flow = createFlow(rx(port, { matchMask: { outer: { smac: MACS.src } } }), { outer: { smac: MACS.src } }, [
      port.qp,
    ]);
    expect(flow.closed).toBe(false);
    for (let i = 0; i < 10; i++) await port.send(INNER);
    for (const { bytes, wc } of await port.receive(10)) {
      expect(Buffer.from(bytes)).toEqual(INNER);
      expect(wc.qpNum).toBe(port.qp.qpNum);
    }
    flow.close();
    await port.send(INNER);
    expect(await port.drain()).toEqual([]);
  });

  it('carry the tag of their flow; lower priorities come first', async () => {
    const port = new Port(open());
    const tagged = (tagValue: number) => [{ type: FlowActionType.TAG, tagValue } as const, port.qp];
    createFlow(rx(port, { priority: 2 }), {}, tagged(2));
    const matchMask = { outer: { udpDport: 5678 } };
    createFlow(rx(port, { priority: 1, matchMask }), matchMask, tagged(0xabcdef));
    await port.send(INNER);
    expect((await port.receiveOne()).wc.flowTag).toBe(0xabcdef);
    const other = Buffer.from(INNER);
    other.writeUInt16BE(1, 36);
    await port.send(other);
    expect((await port.receiveOne()).wc.flowTag).toBe(2);
  });

  it('are copied to all that want the same', async () => {
    const port = new Port(open());
    const second = new Port(port.ctx);
    const matcher = rx(port);
    createFlow(matcher, {}, [port.qp]);
    createFlow(matcher, {}, [second.qp]);
    await port.send(INNER);
    expect(Buffer.from((await port.receiveOne()).bytes)).toEqual(INNER);
    expect(Buffer.from((await second.receiveOne()).bytes)).toEqual(INNER);
  });

  it('are counted and dropped, and modified on their way out', async () => {
    const port = new Port(open());
    const counter = devx.allocFlowCounter(port.ctx);
    const count = { type: FlowActionType.COUNTERS_DEVX, obj: counter } as const;
    const received = createFlow(rx(port), {}, [count, port.qp]);
    for (let i = 0; i < 10; i++) await port.send(INNER);
    await port.receive(10);
    expect(counter.read()).toEqual({ packets: 10n, octets: 1000n });
    expect(counter.read({ clear: true }).packets).toBe(10n);
    expect(counter.read()).toEqual({ packets: 0n, octets: 0n });
    received.close();
    using dropped = createFlow(rx(port), {}, [count, { type: FlowActionType.DROP }]);
    await port.send(INNER);
    await port.drain();
    expect(counter.read().packets).toBe(1n);
    dropped.close();

    createFlow(rx(port), {}, [port.qp]);
    const action = createFlowActionModifyHeader(port.ctx, {
      ftType: Table.NIC_TX,
      actions: [
        { set: 'smac_47_16', value: 0x02000000 },
        { set: 'smac_15_0', value: 0x0001 },
        { add: 'ipv4_ttl', value: -1 },
      ],
    });
    createFlow(tx(port), {}, [action]);
    await port.send(INNER);
    const { bytes } = await port.receiveOne();
    expect(Buffer.from(bytes.subarray(6, 12)).toString('hex')).toBe('020000000001');
    expect(bytes[22]).toBe(INNER.readUInt8(22) - 1);
  });

  it('go through a tunnel and come back byte for byte', async () => {
    const port = new Port(open());
    const data = headers(ether(MACS), ipv4(IPS), udp(), vxlan({ vni: 42 }));
    const encap = createFlowActionPacketReformat(port.ctx, {
      reformatType: Type.L2_TO_L2_TUNNEL,
      ftType: Table.NIC_TX,
      data,
    });
    const decap = createFlowActionPacketReformat(port.ctx, {
      reformatType: Type.L2_TUNNEL_TO_L2,
      ftType: Table.NIC_RX,
    });
    createFlow(tx(port), {}, [encap]);
    const match = { outer: { udpDport: 4789 }, misc: { vxlanVni: 42 }, inner: { dstIp: '2.2.2.2' } };
    createFlow(rx(port, { matchMask: match }), match, [decap, port.qp]);
    for (let size = 60; size <= 1400; size += 67) {
      const frame = Buffer.concat([INNER, Buffer.alloc(size, size)]);
      await port.send(frame);
      expect(Buffer.from((await port.receiveOne()).bytes)).toEqual(frame);
    }
  });
});
