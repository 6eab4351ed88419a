/** @import { Scenario } from './scenario.mjs' */
import { AccessFlags, QpType } from '@verbs/core';
import * as mlx5 from '@verbs/mlx5';
import { errnoOf, saw } from './scenario.mjs';

/**
 * Header data, made up: the kernel does not look at it.
 * @param {number} size
 */
const data = (size) => Uint8Array.from({ length: size }, (_, index) => index * 7 + 1);

/**
 * Match parameters of 64 bytes, with one field of two bytes.
 * @param {number} value
 */
function match(value) {
  const bytes = new Uint8Array(64);
  bytes.fill(value, 0x2c, 0x2e);
  return bytes;
}

/** @type {Record<string, Scenario>} */
export const steeringScenarios = {
  reformats: (context) => {
    const sizes = [0, 50, 14, 42];
    for (const [reformatType, size] of sizes.entries()) {
      for (const ftType of [0, 1]) {
        const attr = { reformatType, ftType, ...(size > 0 ? { data: data(size) } : {}) };
        /** @type {mlx5.FlowAction | undefined} */
        let action;
        const errno = errnoOf(() => {
          action = mlx5.createFlowActionPacketReformat(context, attr);
        });
        saw(`type ${reformatType} in table ${ftType}: ${errno}`);
        action?.close();
      }
    }
  },

  'modify-header': (context) => {
    const actions = Buffer.alloc(16);
    actions.writeBigUInt64BE(0x1003000800000040n, 0);
    actions.writeBigUInt64BE(0x1001002000001234n, 8);
    mlx5.createFlowActionModifyHeader(context, { ftType: mlx5.FlowTableType.NIC_RX, actions }).close();
  },

  flows: (context) => {
    const pd = context.allocPd();
    const cq = context.createCq(8, { channel: null });
    const cap = { maxSendWr: 4, maxRecvWr: 4, maxSendSge: 1, maxRecvSge: 1 };
    const qp = pd.createQp({ qpType: QpType.RAW_PACKET, sendCq: cq, recvCq: cq, cap });
    const matcher = mlx5.createFlowMatcher(context, {
      priority: 3,
      matchCriteriaEnable: mlx5.MatchCriteria.OUTER,
      matchMask: match(0xff),
      ftType: mlx5.FlowTableType.NIC_RX,
    });
    const decap = mlx5.createFlowActionPacketReformat(context, { reformatType: 0, ftType: 0 });
    const tag = { type: mlx5.FlowActionType.TAG, tagValue: 0x4711 };
    const flow = mlx5.createFlow(matcher, match(0x12), [decap, tag, qp]);
    const dropping = mlx5.createFlow(matcher, match(0x13), [{ type: mlx5.FlowActionType.DROP }]);
    dropping.close();
    flow.close();
    decap.close();
    matcher.close();
    qp.close();
    cq.close();
    pd.close();
  },

  devx: (context) => {
    const { createObj, generalCmd, queryEqn, regUmem } = mlx5.devx;
    const object = createObj(context, command(32, [0x09, 0x39]), 16);
    object.query(command(32, [0x09, 0x3b]), 64);
    generalCmd(context, command(16, [0x01, 0x00, 0, 0, 0, 0, 0, 0x0f]), 4112);
    queryEqn(context, 1);
    const pd = context.allocPd();
    const mr = pd.allocMr(8192, AccessFlags.LOCAL_WRITE);
    const umem = regUmem(context, mr);
    umem.close();
    mr.close();
    pd.close();
    object.close();
  },
};

/**
 * @param {number} size
 * @param {number[]} start
 */
function command(size, start) {
  const bytes = new Uint8Array(size);
  bytes.set(start);
  return bytes;
}
