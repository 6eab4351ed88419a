// A pipeline of mlx5 flow rules: frames enter a VXLAN tunnel as they are sent, leave it as they are received.
//   node vxlan-pipeline.ts
import { AccessFlags, QpState, QpType, WrOpcode } from '@verbs/core';
import * as mlx5 from '@verbs/mlx5';

const { ether, headers, ipv4, packet, parseHeaders, udp, vxlan } = mlx5;
const { NIC_RX, NIC_TX } = mlx5.FlowTableType;
const { L2_TO_L2_TUNNEL, L2_TUNNEL_TO_L2 } = mlx5.FlowActionPacketReformatType;

const ctx = mlx5.openDevice();
const pd = ctx.allocPd();
const cq = ctx.createCq(8);
const mr = pd.allocMr(4096, AccessFlags.LOCAL_WRITE);
const qp = pd.createQp({ qpType: QpType.RAW_PACKET, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4 } });
qp.init();
qp.modify({ qpState: QpState.RTR });
qp.modify({ qpState: QpState.RTS });

// Frames to a group come back to the port that sends them, so that one port is both ends.
const ends = { src: '02:00:00:00:00:01', dst: '01:00:5e:00:00:02' };
const data = headers(ether(ends), ipv4({ src: '10.1.0.1', dst: '10.1.0.2' }), udp(), vxlan({ vni: 42 }));
const into = mlx5.createFlowActionPacketReformat(ctx, { reformatType: L2_TO_L2_TUNNEL, ftType: NIC_TX, data });
const outOf = mlx5.createFlowActionPacketReformat(ctx, { reformatType: L2_TUNNEL_TO_L2, ftType: NIC_RX });
const tunnel = { outer: { ipProtocol: 17, udpDport: 4789 }, misc: { vxlanVni: 42 } };
const flows = [
  mlx5.createFlow(mlx5.createFlowMatcher(ctx, { ftType: NIC_TX }), {}, [into]),
  mlx5.createFlow(mlx5.createFlowMatcher(ctx, { ftType: NIC_RX, matchMask: tunnel }), tunnel, [outOf, qp]),
];

const inner = [ether(ends), ipv4({ src: '192.168.0.1', dst: '192.168.0.2' }), udp({ srcPort: 1234, dstPort: 5678 })];
const frame = packet(inner, new TextEncoder().encode('in a tunnel'));
mr.bytes.set(frame);
const received = qp.recv({ sgList: [{ mr, offset: 2048, length: 2048 }] });
await qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr, length: frame.length }] });
const { layers, payload } = parseHeaders(mr.bytes.subarray(2048, 2048 + (await received).byteLen));
console.log(layers.map(({ name }) => name).join(' '), new TextDecoder().decode(payload), `by ${flows.length} flows`);
ctx.close();
