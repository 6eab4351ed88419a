// What programs do with the objects of the package, for packages/core/test/programs/native-calls.mjs.
import { QpState, QpType } from '@verbs/core';
import * as mlx5 from '../../dist/index.js';

const { devx, dr, FlowTableType: Table, FlowActionPacketReformatType: Type } = mlx5;
const match = { outer: { smac: '24:8a:07:a5:28:c8' } };

export default function tour() {
  for (const device of mlx5.listDevices()) mlx5.isSupported(device);
  const ctx = mlx5.openDevice('mlx5_soft0');
  mlx5.queryDevice(ctx);
  const pd = ctx.allocPd();
  const cq = ctx.createCq(16);
  const cap = { maxSendWr: 8, maxRecvWr: 8 };
  const qp = pd.createQp({ qpType: QpType.RAW_PACKET, sendCq: cq, recvCq: cq, cap });
  qp.modify({ qpState: QpState.INIT, portNum: 1 });
  const counter = devx.allocFlowCounter(ctx);
  counter.read();
  const matcher = mlx5.createFlowMatcher(ctx, { ftType: Table.NIC_RX, matchMask: match });
  const decap = mlx5.createFlowActionPacketReformat(ctx, { reformatType: Type.L2_TUNNEL_TO_L2, ftType: Table.NIC_RX });
  mlx5.createFlow(matcher, match, [decap, qp, { type: mlx5.FlowActionType.COUNTERS_DEVX, obj: counter }]);
  mlx5.createSteeringAnchor(ctx, { ftType: Table.NIC_RX });
  devx.generalCmd(ctx, new Uint8Array([1, 0, ...Array(14).fill(0)]), 16 + 4096);
  const domain = dr.createDomain(ctx, dr.DomainType.NIC_RX);
  const [root, table] = [dr.createTable(domain, 0), dr.createTable(domain, 1)];
  dr.createRule(dr.createMatcher(root), undefined, [dr.createActionDestTable(domain, table)]);
  const actions = [
    dr.createActionTag(domain, 5),
    dr.createActionFlowCounter(domain, counter),
    dr.createActionDestIbvQp(domain, qp),
  ];
  dr.createRule(dr.createMatcher(table, { mask: match }), match, actions);
  dr.createActionDrop(domain);
  return () => {
    ctx.close();
  };
}
