// Frames a second from one mlx5 model device to another, on one thread: sent, encapsulated or decapsulated, received.
// arguments: copy|forward|encap|decap, bytes of a frame, frames
import { AccessFlags, CompletionBatch, QpState, QpType, RecvBatch, SendBatch, SendFlags, WrOpcode } from '@verbs/core';
import * as mlx5 from '@verbs/mlx5';

const [what, size, count] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const BATCH = 64;
const SLOT = 2048;
const { ether, ipv4, udp, vxlan, headers, packet } = mlx5;
const { NIC_TX, NIC_RX } = mlx5.FlowTableType;
const { L2_TO_L2_TUNNEL, L2_TUNNEL_TO_L2 } = mlx5.FlowActionPacketReformatType;

const ends = { src: '02:00:00:00:00:01', dst: '02:00:00:00:00:02' };
const outer = [ether(ends), ipv4({ src: '10.1.0.1', dst: '10.1.0.2' }), udp(), vxlan({ vni: 42 })];
const inner = [ether(ends), ipv4({ src: '10.0.0.1', dst: '10.0.0.2' }), udp({ srcPort: 1, dstPort: 2 })];
const plain = packet(inner, new Uint8Array(size - 42));
const frame = what === 'decap' ? packet([...outer, ...inner], new Uint8Array(size - 42)) : plain;

/** @param {import('@verbs/core').Context} ctx */
function end(ctx) {
  const [sendCq, recvCq] = [ctx.createCq(BATCH), ctx.createCq(BATCH)];
  const pd = ctx.allocPd();
  const mr = pd.allocMr(BATCH * SLOT, AccessFlags.LOCAL_WRITE);
  const qp = pd.createQp({ qpType: QpType.RAW_PACKET, sendCq, recvCq, cap: { maxSendWr: BATCH, maxRecvWr: BATCH } });
  qp.modify({ qpState: QpState.INIT, portNum: 1 });
  qp.modify({ qpState: QpState.RTR });
  qp.modify({ qpState: QpState.RTS });
  return { ctx, qp, mr, sendCq, recvCq };
}

const from = end(mlx5.openDevice('mlx5_soft0'));
const to = end(mlx5.openDevice('mlx5_soft1'));
/** @type {mlx5.Mlx5Flow[]} */
const flows = [];
/**
 * @param {import('@verbs/core').Context} ctx
 * @param {number} ftType
 * @param {mlx5.FlowActionLike[]} actions
 */
function flow(ctx, ftType, actions) {
  flows.push(mlx5.createFlow(mlx5.createFlowMatcher(ctx, { ftType }), undefined, actions));
}
if (what === 'encap') {
  const attr = { reformatType: L2_TO_L2_TUNNEL, ftType: NIC_TX, data: headers(...outer) };
  flow(from.ctx, NIC_TX, [mlx5.createFlowActionPacketReformat(from.ctx, attr)]);
}
if (what === 'decap') {
  const attr = { reformatType: L2_TUNNEL_TO_L2, ftType: NIC_RX };
  flow(to.ctx, NIC_RX, [mlx5.createFlowActionPacketReformat(to.ctx, attr), to.qp]);
} else {
  flow(to.ctx, NIC_RX, [to.qp]);
}

const sends = new SendBatch(BATCH);
const receives = new RecvBatch(BATCH);
for (let i = 0; i < BATCH; i += 1) {
  from.mr.bytes.set(frame, i * SLOT);
  const sendFlags = i === BATCH - 1 ? SendFlags.SIGNALED : 0;
  sends.set(i, { opcode: WrOpcode.SEND, sendFlags, sgList: [{ mr: from.mr, offset: i * SLOT, length: frame.length }] });
  receives.set(i, { sgList: [{ mr: to.mr, offset: i * SLOT, length: SLOT }] });
}
const completions = new CompletionBatch(BATCH);

function pass() {
  to.qp.postRecvBatch(receives);
  from.qp.postSendBatch(sends);
  let [sent, received] = [0, 0];
  while (sent < 1 || received < BATCH) {
    sent += from.sendCq.pollBatch(completions);
    received += to.recvCq.pollBatch(completions);
  }
}

/** The same frames from one memory to the other, and nothing else. */
function copy() {
  for (let i = 0; i < BATCH; i += 1) {
    to.mr.bytes.set(from.mr.bytes.subarray(i * SLOT, i * SLOT + frame.length), i * SLOT);
  }
}

const turn = what === 'copy' ? copy : pass;
for (let i = 0; i < 50; i += 1) turn();
const batches = Math.max(1, Math.round(count / BATCH));
const start = process.hrtime.bigint();
for (let i = 0; i < batches; i += 1) turn();
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
const wanted = what === 'encap' ? frame.length + 50 : what === 'decap' ? frame.length - 50 : frame.length;
const arrived = to.mr.bytes.slice(0, wanted);
const expected = what === 'encap' ? arrived.subarray(50) : arrived;
if (Buffer.compare(expected, plain) !== 0) throw new Error('another frame arrived than was sent');
console.log(JSON.stringify({ unit: 'frames/s', rate: (batches * BATCH) / seconds }));
for (const each of flows) each.close();
from.ctx.close();
to.ctx.close();
