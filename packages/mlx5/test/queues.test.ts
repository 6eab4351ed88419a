import { QpState, QpType, WcExFlags } from '@verbs/core';
import { expect, it } from 'vitest';
import { createCq, createQp, DcType, devx, initObj, Mlx5QpCreateFlags, modifyQpUdpSport } from '../src/index.js';
import { code, open } from './helpers/devices.js';

it("queues with mlx5's attributes are queues of @verbs/core", () => {
  const ctx = open();
  const pd = ctx.allocPd();
  const cq = createCq(ctx, 16, { wcFlags: WcExFlags.FLOW_TAG }, { cqeSize: 128 });
  expect(cq.wcFlags).toBe(WcExFlags.FLOW_TAG);
  expect(cq.poll(4)).toEqual([]);
  const attr = { qpType: QpType.RAW_PACKET, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4 } } as const;
  const qp = createQp(pd, attr, { createFlags: Mlx5QpCreateFlags.TIR_ALLOW_SELF_LOOPBACK_UC });
  qp.modify({ qpState: QpState.INIT, portNum: 1 });
  expect(qp.query().attr.qpState).toBe(QpState.INIT);
  pd.close();
  expect([qp.closed, cq.closed]).toEqual([true, false]);
});

it('attributes that the device lacks are EOPNOTSUPP, and impossible values are named', () => {
  const ctx = open();
  const pd = ctx.allocPd();
  const cq = ctx.createCq(4);
  expect(code(() => createCq(ctx, 16, {}, { cqeSize: 100 }))).toBe('EINVAL');
  expect(() => createCq(ctx, 16, {}, { cqesize: 64 } as never)).toThrow(/mlx5Attr\.cqesize is not known here/);
  const attr = { qpType: QpType.DRIVER, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } } as const;
  expect(code(() => createQp(pd, attr, { dcInitAttr: { dcType: DcType.DCI } }))).toBe('EOPNOTSUPP');
  const dc = (dcInitAttr: object) => code(() => createQp(pd, attr, { dcInitAttr: dcInitAttr as never }));
  const [dciStreams, dctAccessKey] = [{ logNumConcurent: 1, logNumErrored: 0 }, 5n];
  expect(dc({ dcType: DcType.DCT, dctAccessKey })).toBe('EOPNOTSUPP');
  expect(dc({ dcType: DcType.DCI, dciStreams })).toBe('EOPNOTSUPP');
  expect(() => dc({ dcType: DcType.DCT })).toThrow(/^mlx5Attr\.dcInitAttr\.dctAccessKey must be a bigint or a number/);
  expect(() => dc({ dcType: DcType.DCI, dctAccessKey })).toThrow(/\.dctAccessKey is for DcType\.DCT/);
  expect(() => dc({ dcType: DcType.DCT, dctAccessKey, dciStreams })).toThrow(/\.dciStreams is for DcType\.DCI/);
  expect(() => initObj({ cq: pd } as never)).toThrow(/objects\.cq must be a CompletionQueue/);
  expect(() => {
    modifyQpUdpSport(cq as never, 1);
  }).toThrow(/qp must be a QueuePair/);
});

it('the capabilities of the flow tables are those of the configuration', () => {
  const caps = devx.queryNicFlowTableCaps(open('max_encap_header_size=64,decap=0'));
  expect(caps.maxEncapHeaderSize).toBe(64);
  expect([caps.nicReceive.ftSupport, caps.nicReceive.decap, caps.encapGeneralHeader]).toEqual([true, false, true]);
  const others = [caps.nicReceiveRdma, caps.nicTransmitRdma, caps.nicReceiveSniffer, caps.nicTransmitSniffer];
  expect(others.map(({ ftSupport }) => ftSupport)).toEqual([true, true, false, false]);
  expect(caps.nicReceiveRdma).toMatchObject({ flowCounter: true, flowTag: false, reformat: false, maxFtLevel: 255 });
});
