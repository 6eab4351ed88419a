import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { GidType, LinkLayer, Mtu, PortFlags, PortState, QpState, QpType, EventType } from '../../src/index.js';
import { bench, createQp, open } from '../helpers/devices.js';

it('queries the device', () => {
  const ctx = open();
  const attr = ctx.queryDevice();
  expect(attr.physPortCnt).toBe(1);
  expect(attr.maxQp).toBeGreaterThan(0);
  expect(attr.nodeGuid).toBe(ctx.device.guid);
  expect(ctx.queryDeviceEx()).toMatchObject({ maxQp: attr.maxQp, odpCaps: { generalCaps: 3n } });
});

it('queries ports, GIDs and pkeys', () => {
  const ctx = open();
  expect(ctx.queryPort(1)).toMatchObject({
    state: PortState.ACTIVE,
    linkLayer: LinkLayer.ETHERNET,
    activeMtu: Mtu.MTU_4096,
  });
  expect(ctx.queryPort(1).flags & PortFlags.GRH_REQUIRED).toBe(PortFlags.GRH_REQUIRED);
  const { gid, index } = ctx.defaultGid(1);
  expect(gid).toMatch(/^::ffff:\d+\.\d+\.\d+\.\d+$/);
  expect(ctx.queryGid(1, index)).toBe(gid);
  expect(ctx.gidTable(1)).toContainEqual(expect.objectContaining({ index, portNum: 1, gid, type: GidType.ROCE_V2 }));
  expect(ctx.gidTable()).toEqual(ctx.gidTable(1));
  expect(ctx.queryPkey(1, 0)).toBe(0xffff);
});

it('refuses ports and indices that are not there', () => {
  const ctx = open();
  expect(() => ctx.queryPort(2)).toThrow(/EINVAL.*ibv_query_port of port 2/);
  expect(() => ctx.queryPort(0)).toThrow(RangeError);
  expect(() => ctx.queryPort('1' as never)).toThrow(TypeError);
  expect(() => ctx.queryGid(1, 9999)).toThrow(/ibv_query_gid 9999 of port 1/);
  expect(() => ctx.queryPkey(1, 9999)).toThrow(/ibv_query_pkey/);
  expect(() => ctx.gidTable(7)).toThrow(/EINVAL/);
});

it('refuses queues that cannot be', () => {
  const { ctx, channel } = bench();
  expect(() => ctx.createCq(0)).toThrow(RangeError);
  expect(() => ctx.createCq(0x7fffffff)).toThrow(
    /ibv_create_cq of 2147483647 entries.*above maxCqe of queryDevice\(\), \d+/,
  );
  expect(() => ctx.createCq(8, { compVector: 999 })).toThrow(/compVector is 999; the device has \d+, from 0/);
  expect(() => ctx.createCq(8, { chanel: channel } as never)).toThrow(/options\.chanel is not known here/);
  expect(() => ctx.createCq(8, { channel: {} as never })).toThrow(/options\.channel must be a CompletionChannel/);
});

it('refuses a channel of another context', () => {
  const [one, other] = [open(), open()];
  const channel = other.createCompChannel();
  expect(() => one.createCq(8, { channel })).toThrow(/EINVAL/);
});

it('gives asynchronous events with their objects', async () => {
  const { ctx, cq, pd } = bench();
  const remote = createQp({ pd, cq });
  const local = createQp({ pd, cq });
  const { gid, index: sgidIndex } = ctx.defaultGid();
  local.connect({ remote: { qpNum: remote.qpNum, gid } });
  remote.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
  remote.modify({
    qpState: QpState.RTR,
    pathMtu: Mtu.MTU_1024,
    destQpNum: local.qpNum,
    rqPsn: 0,
    ahAttr: { portNum: 1, grh: { dgid: gid, sgidIndex } },
    maxDestRdAtomic: 1,
    minRnrTimer: 12,
  });
  // The first packet at a queue pair that is only ready to receive: communication established.
  const mr = pd.allocMr(64, 1);
  remote.postRecv({ sgList: [{ mr }] });
  local.postSend({ opcode: 2, sgList: [{ mr, length: 8 }] });
  const events = ctx.asyncEvents();
  const { value } = await events.next();
  expect(value).toMatchObject({ type: EventType.COMM_EST, name: 'COMM_EST' });
  expect(value?.element).toBe(remote);
  expect(remote.qpType).toBe(QpType.RC);
  await events.return();
});

it('ends the waiting for events by a signal and by close', async () => {
  const ctx = open();
  const stop = new AbortController();
  const aborted = ctx.asyncEvents({ signal: stop.signal }).next();
  stop.abort(new Error('enough'));
  await expect(aborted).rejects.toThrow('enough');
  const ended = ctx.asyncEvents().next();
  ctx.close();
  await expect(ended).resolves.toEqual({ done: true, value: undefined });
});

it('shows itself', () => {
  const ctx = open();
  const { name, library } = ctx.device;
  const fields = `\\{ name: '${name}', guid: '[0-9a-f:]{19}', library: '${library}' \\}$`;
  expect(inspect(ctx)).toMatch(new RegExp(`^Context #\\d+ ${fields}`));
  ctx.close();
  expect(inspect(ctx)).toMatch(new RegExp(`^Context #\\d+ \\(closed\\) ${fields}`));
  expect(inspect({ deep: { ctx } }, { depth: 0 })).toContain('[Object]');
});
