import {
  type Context,
  FlowAttrType,
  FlowFlags,
  MwType,
  type ProtectionDomain,
  QpCreateFlags,
  type QpInitAttr,
  SendOpsFlags,
} from '@verbs/core';
import { describe, expect, it } from 'vitest';
import {
  allocDm,
  createFlowMatcher,
  createMkey,
  createFlowActionPacketReformat,
  createQp,
  createSteeringAnchor,
  devx,
  DmType,
  dr,
  FlowActionPacketReformatType,
  FlowTableType,
  MatchCriteria,
  MkeyInitAttrFlags,
  Mlx5QpCreateFlags,
  Mlx5SendOpsFlags,
} from '../../src/index.js';

/** Compiled, never run: the enumerations of this package are not those of `@verbs/core`, nor each other. */
export function programs(ctx: Context, pd: ProtectionDomain, queues: QpInitAttr, fromC: number): void {
  const domain = dr.createDomain(ctx, dr.DomainType.FDB);
  const matchMask = new Uint8Array(64);

  // @ts-expect-error a type of tables is no type of domains, although NIC_TX is 1 in both
  dr.createDomain(ctx, FlowTableType.NIC_TX);
  // @ts-expect-error a type of domains is no type of tables
  createSteeringAnchor(ctx, { ftType: dr.DomainType.FDB });
  // @ts-expect-error there is no such table
  createSteeringAnchor(ctx, { ftType: 99 });
  // @ts-expect-error a type of domains is no flag
  domain.sync(dr.DomainType.NIC_TX);
  // @ts-expect-error core's flags of creation are not mlx5's
  createQp(pd, queues, { createFlags: QpCreateFlags.BLOCK_SELF_MCAST_LB });
  // @ts-expect-error core's operations are not mlx5's
  createQp(pd, queues, { sendOpsFlags: SendOpsFlags.SEND });
  // @ts-expect-error a type of windows is no type of device memory
  allocDm(ctx, 64, { type: MwType.TYPE_1 });
  // @ts-expect-error a type of device memory is no type of register pages
  devx.allocUar(ctx, DmType.MEMIC);
  // @ts-expect-error a flag of queue pairs is none of keys
  createMkey(pd, { createFlags: Mlx5QpCreateFlags.TUNNEL_OFFLOADS, maxEntries: 1 });
  // @ts-expect-error a type of tables is no kind of reformat
  createFlowActionPacketReformat(ctx, { reformatType: FlowTableType.NIC_RX, ftType: FlowTableType.NIC_RX });
  // @ts-expect-error a flag is no part of the mask
  createFlowMatcher(ctx, { matchMask, matchCriteriaEnable: FlowFlags.EGRESS });
  // @ts-expect-error a type of flows is no flag
  createFlowMatcher(ctx, { matchMask, flags: FlowAttrType.MC_DEFAULT });

  // What is meant compiles.
  domain.sync(dr.DomainSyncFlags.SW | dr.DomainSyncFlags.HW);
  createSteeringAnchor(ctx, { ftType: fromC });
  createQp(pd, queues, { createFlags: Mlx5QpCreateFlags.TUNNEL_OFFLOADS, sendOpsFlags: Mlx5SendOpsFlags.MEMCPY });
  allocDm(ctx, 64, { type: DmType.MEMIC });
  devx.allocUar(ctx, devx.UarAllocType.NC);
  createMkey(pd, { createFlags: MkeyInitAttrFlags.INDIRECT, maxEntries: 1 });
  createFlowActionPacketReformat(ctx, {
    reformatType: FlowActionPacketReformatType.L2_TUNNEL_TO_L2,
    ftType: FlowTableType.NIC_RX,
  });
  createFlowMatcher(ctx, {
    matchMask,
    matchCriteriaEnable: MatchCriteria.OUTER | MatchCriteria.MISC,
    type: FlowAttrType.NORMAL,
    flags: FlowFlags.EGRESS,
  });
}

describe('enumerations', () => {
  it('are plain objects with the numbers of C: no reverse names', () => {
    expect(dr.DomainType).toEqual({ NIC_RX: 0, NIC_TX: 1, FDB: 2 });
    expect(Object.values(MatchCriteria)).toEqual([0, 1, 2, 4, 8, 16, 32, 64]);
    expect(Object.values(FlowTableType)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});
