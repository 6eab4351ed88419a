// Bytes that a program gives are its own: it may write to them afterwards, and give their memory away.
import { expect, it } from 'vitest';
import {
  createFlow,
  createFlowActionModifyHeader,
  createFlowActionPacketReformat,
  createFlowMatcher,
  devx,
  dr,
  encodeMatch,
  encodeModifyHeader,
  ether,
  FlowActionPacketReformatType as Type,
  FlowTableType as Table,
  geneve,
  headers,
  ipv4,
  parseHeaders,
  ppAlloc,
  udp,
} from '../src/index.js';
import { collect } from '../../core/test/shared/collect.js';
import { AccessFlags, QpType } from '@verbs/core';
import { open } from './helpers/devices.js';
import { IPS, MACS } from './helpers/frames.js';

const VXLAN = encodeMatch({ outer: { udpDport: 4789 } });

it('what is kept of a Buffer is a copy', () => {
  const ctx = open();
  const pd = ctx.allocPd();
  const cq = ctx.createCq(4);
  const qp = pd.createQp({ qpType: QpType.RAW_PACKET, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
  const [mask, value] = [Buffer.from(VXLAN.mask), Buffer.from(VXLAN.value)];
  const tunnel = headers(
    ether(MACS),
    ipv4(IPS),
    udp(),
    geneve({ vni: 1, options: [{ class: 1, type: 2, data: Uint8Array.of(1, 2, 3, 4) }] }),
  );
  const [data, packet, entries] = [tunnel, tunnel, encodeModifyHeader([{ set: 'udp_dport', value: 1 }])].map((each) =>
    Buffer.from(each),
  ) as [Buffer, Buffer, Buffer];
  const entry = { set: 'udp_dport' as const, value: 1 };

  const matcher = createFlowMatcher(ctx, { matchMask: mask, matchCriteriaEnable: VXLAN.matchCriteriaEnable });
  const flow = createFlow(matcher, value, [qp]);
  const table = dr.createTable(dr.createDomain(ctx, dr.DomainType.NIC_RX), 1);
  const ruleMatcher = dr.createMatcher(table, { mask, matchCriteriaEnable: VXLAN.matchCriteriaEnable });
  const rule = dr.createRule(ruleMatcher, value, [dr.createActionDrop(table.domain)]);
  const reformat = createFlowActionPacketReformat(ctx, {
    reformatType: Type.L2_TO_L2_TUNNEL,
    ftType: Table.NIC_TX,
    data,
  });
  const modify = [entries, [entry]].map((actions) =>
    createFlowActionModifyHeader(ctx, { ftType: Table.NIC_TX, actions }),
  );
  const parsed = parseHeaders(packet).layers.at(-1);
  for (const each of [mask, value, data, packet, entries]) each.fill(0);
  entry.value = 2;

  for (const each of [matcher.matchMask, ruleMatcher.mask]) expect(each).toEqual(VXLAN.mask);
  for (const each of [flow.matchValue, rule.value]) expect(each).toEqual(VXLAN.value);
  expect(reformat.attr).toMatchObject({ data: tunnel });
  expect(modify.map(({ attr }) => attr)).toMatchObject([
    { actions: encodeModifyHeader([{ set: 'udp_dport', value: 1 }]) },
    { actions: [{ set: 'udp_dport', value: 1 }] },
  ]);
  expect(parsed?.fields).toMatchObject({ options: [{ data: Uint8Array.of(1, 2, 3, 4) }] });
});

it('without their memory they are an error, not none', () => {
  const ctx = open();
  const table = dr.createTable(dr.createDomain(ctx, dr.DomainType.NIC_RX), 1);
  const gone = new Uint8Array(384).fill(255);
  const words = new BigUint64Array(1);
  structuredClone(gone.buffer, { transfer: [gone.buffer, words.buffer] });
  const [reformatType, ftType] = [Type.L2_TO_L2_TUNNEL, Table.NIC_TX];
  expect(() => createFlowMatcher(ctx, { matchMask: gone })).toThrow(/^attr\.matchMask is detached/);
  expect(() => dr.createMatcher(table, { mask: gone })).toThrow(/^attr\.mask is detached/);
  expect(() => createFlow(createFlowMatcher(ctx), gone, [])).toThrow(/^value is detached/);
  expect(() => createFlowActionPacketReformat(ctx, { reformatType, ftType, data: gone })).toThrow(
    /^attr\.data is detached/,
  );
  for (const actions of [gone, words]) {
    expect(() => createFlowActionModifyHeader(ctx, { ftType, actions })).toThrow(/^attr\.actions is detached/);
  }
});

it('registered memory stays as long as the device writes there, also where its region has other memory now', async () => {
  const ctx = open();
  const mr = ctx.allocPd().allocMr(4096, AccessFlags.LOCAL_WRITE);
  const memory = new WeakRef(mr.buffer);
  const umem = devx.regUmem(ctx, mr);
  mr.rereg({ view: new Uint8Array(new SharedArrayBuffer(4096)) });
  for (let turn = 0; turn < 3; turn++) await collect();
  expect(memory.deref()).toBeDefined();
  umem.close();
});

it('refuses more bytes than the length field of the ioctl has room for', () => {
  const ctx = open();
  const domain = dr.createDomain(ctx, dr.DomainType.NIC_TX);
  const large = new Uint8Array(0x10000);
  const actions = new Array(8192).fill({ set: 'udp_dport', value: 1 });
  const most = /byteLength must be at most 65535; received 65536/;

  for (const given of [large, new BigUint64Array(8192)]) {
    expect(() => createFlowActionModifyHeader(ctx, { ftType: Table.NIC_TX, actions: given })).toThrow(most);
  }
  expect(() => createFlowActionModifyHeader(ctx, { ftType: Table.NIC_TX, actions })).toThrow(/attr\.actions.*8191/);
  const reformatType = Type.L2_TO_L2_TUNNEL;
  expect(() => dr.createActionPacketReformat(domain, { reformatType, data: large })).toThrow(most);
  expect(() => ppAlloc(ctx, large)).toThrow(most);
});
