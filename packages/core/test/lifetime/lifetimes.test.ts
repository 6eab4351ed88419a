import { expect, it } from 'vitest';
import { AccessFlags, openDevice, QpState, QpType, type Resource, WrOpcode } from '../../src/index.js';
import { native } from '../../src/base/native.js';
import { bench, createQp, datagram, deviceName, open, pair, take } from '../helpers/devices.js';
import { collect, collectUntil } from '../shared/collect.js';

it('closes children before parents, newest first', () => {
  const b = bench();
  const qp = createQp(b);
  const ah = b.pd.createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } });
  const objects: Resource[] = [ah, qp, b.mr, b.cq, b.channel, b.pd, b.ctx];
  expect(objects.some(({ closed }) => closed)).toBe(false);
  b.ctx.close();
  expect(objects.every(({ closed }) => closed)).toBe(true);
  // Idempotent, in any order.
  for (const object of objects) object.close();
});

it('closes a queue pair with either of its parents', () => {
  for (const parent of ['pd', 'cq'] as const) {
    const b = bench();
    const qp = createQp(b);
    b[parent].close();
    expect(qp.closed).toBe(true);
    expect(b.channel.closed).toBe(false);
  }
});

it('closes by using', () => {
  let kept;
  {
    using ctx = openDevice(deviceName);
    using pd = ctx.allocPd();
    kept = pd;
    expect(pd.closed).toBe(false);
  }
  expect(kept.closed).toBe(true);
});

it('throws for every use of a closed object, and names the C function', () => {
  const b = bench();
  const qp = datagram(b);
  b.ctx.close();
  const uses: [string, () => unknown][] = [
    ['ibv_query_device', () => b.ctx.queryDevice()],
    ['ibv_query_device_ex', () => b.ctx.queryDeviceEx()],
    ['ibv_query_port', () => b.ctx.queryPort(1)],
    ['ibv_query_gid', () => b.ctx.queryGid(1, 0)],
    ['ibv_query_pkey', () => b.ctx.queryPkey(1, 0)],
    ['ibv_query_gid_table', () => b.ctx.gidTable()],
    ['ibv_alloc_pd', () => b.ctx.allocPd()],
    ['ibv_create_comp_channel', () => b.ctx.createCompChannel()],
    ['ibv_create_cq', () => b.ctx.createCq(1)],
    ['ibv_reg_mr', () => b.pd.allocMr(1, 1)],
    ['ibv_reg_mr', () => b.pd.regMr(new SharedArrayBuffer(1), 1)],
    [
      'ibv_create_qp',
      () => b.pd.createQp({ qpType: QpType.RC, sendCq: b.cq, recvCq: b.cq, cap: { maxSendWr: 1, maxRecvWr: 1 } }),
    ],
    ['ibv_create_ah', () => b.pd.createAh({ portNum: 1 })],
    ['ibv_poll_cq', () => b.cq.poll()],
    [
      'ibv_req_notify_cq',
      () => {
        b.cq.reqNotify();
      },
    ],
    ['ibv_get_cq_event', () => b.channel.getCqEvent()],
    [
      'ibv_modify_qp',
      () => {
        qp.modify({ qpState: QpState.ERR });
      },
    ],
    ['ibv_query_qp', () => qp.query()],
    [
      'ibv_post_send',
      () => {
        qp.postSend({ opcode: WrOpcode.SEND });
      },
    ],
    [
      'ibv_post_recv',
      () => {
        qp.postRecv({});
      },
    ],
  ];
  for (const [syscall, use] of uses) {
    expect(use).toThrow(expect.objectContaining({ code: 'ERR_VERBS_CLOSED', errno: -9, syscall }));
  }
});

it('refuses closed objects as arguments', () => {
  const b = bench();
  b.cq.close();
  expect(() => createQp(b)).toThrow(/CompletionQueue in attr\.sendCq is closed/);
});

it('keeps parents alive through a child, and frees all after the last', async () => {
  const collected = new Set<string>();
  const registry = new FinalizationRegistry<string>((name) => collected.add(name));
  const build = () => {
    const ctx = openDevice(deviceName);
    const pd = ctx.allocPd();
    const cq = ctx.createCq(16, { channel: ctx.createCompChannel() });
    const mr = pd.allocMr(4096, 1);
    const qp = createQp({ pd, cq });
    for (const [name, object] of Object.entries({ ctx, pd, cq, mr, qp })) registry.register(object, name);
    return qp;
  };
  const held = [build()];
  expect(await collectUntil(() => collected.has('mr'))).toBe(true);
  expect([...collected]).toEqual(['mr']);
  expect(held.pop()?.query().attr.qpState).toBe(QpState.RESET);
  expect(await collectUntil(() => collected.size === 5)).toBe(true);
});

it('closes a parent whose forgotten children were not collected yet', () => {
  const b = bench();
  for (let i = 0; i < 200; i++) createQp(b);
  b.pd.close();
  expect(b.pd.closed).toBe(true);
});

it('holds the memory of a posted request until its completion', async () => {
  const b = bench();
  const [one, two] = pair(b);
  let collected = false;
  const registry = new FinalizationRegistry(() => {
    collected = true;
  });
  const postAndForget = () => {
    const mr = b.pd.allocMr(4096, 1);
    registry.register(mr, undefined);
    two.postRecv({ wrId: 6, sgList: [{ mr, length: 64 }] });
  };
  postAndForget();
  expect(await collectUntil(() => collected)).toBe(true);
  // The region object is gone, its registration and memory are not.
  one.postSend({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: 64 }] });
  expect(await take(b.cq, 1)).toMatchObject([{ wrId: 6, ok: true, byteLen: 64 }]);
});

it('keeps a shared buffer that only a registration holds', async () => {
  const b = bench();
  const [one, two] = pair(b);
  const remote = b.pd.regMr(
    new SharedArrayBuffer(4096),
    AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ,
  );
  const { addr, rkey } = remote;
  await collect();
  one.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: 2,
    remoteAddr: addr,
    rkey,
    sgList: [{ mr: b.mr, length: 4096 }],
  });
  expect(await take(b.cq, 1)).toMatchObject([{ ok: true }]);
  expect(remote.bytes.byteLength).toBe(4096);
  // A queue pair that nothing holds would have been collected, and would not have responded.
  expect(two.closed).toBe(false);
});

it('is not kept alive by a watched channel without a waiter', async () => {
  let collected = false;
  const registry = new FinalizationRegistry(() => {
    collected = true;
  });
  const waitAndForget = async () => {
    const b = bench();
    const stop = new AbortController();
    const waiting = b.cq.wait({ signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toThrow();
    b.cq.close();
    registry.register(b.channel, undefined);
  };
  await waitAndForget();
  expect(await collectUntil(() => collected)).toBe(true);
});

it('wakes a waiter that nothing else holds', async () => {
  const b = bench();
  const [one, two] = pair(b);
  two.postRecv({ wrId: 1 });
  const woken = b.cq.wait();
  await collect();
  one.postSend({ opcode: WrOpcode.SEND });
  await woken;
});

it('gives the ids of completions of a queue pair that is gone', async () => {
  const b = bench();
  const qp = createQp(b);
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
  qp.postRecv({ wrId: 1234n });
  qp.modify({ qpState: QpState.ERR });
  await b.cq.wait();
  qp.close();
  expect(b.cq.poll()).toMatchObject([{ wrId: 1234n }]);
  // Its place is taken by others without a mix-up.
  const [one, two] = pair(b);
  two.postRecv({ wrId: 1 });
  one.postSend({ wrId: 2, opcode: WrOpcode.SEND, sendFlags: 2 });
  expect((await take(b.cq, 2)).map(({ wrId }) => wrId).sort()).toEqual([1, 2]);
});

// In an emulated kernel thousands take minutes.
const many = deviceName === 'soft0' ? 3000 : 100;

it('survives very many objects of each kind', () => {
  const ctx = open();
  const pd = ctx.allocPd();
  const cq = ctx.createCq(16);
  const { gid: dgid } = ctx.defaultGid();
  for (let i = 0; i < many; i++) {
    using qp = createQp({ pd, cq });
    using mr = pd.allocMr(64, 1);
    using ah = pd.createAh({ portNum: 1, grh: { dgid } });
    expect(qp.closed || mr.closed || ah.closed).toBe(false);
  }
});

it('natively closes what JavaScript forgot', () => {
  const ctx = openDevice(deviceName);
  const pd = native.allocPd((ctx as unknown as { use(name: string): never }).use('test'));
  expect(typeof pd).not.toBe('number');
  ctx.close();
  expect(native.isOpen(pd as never)).toBe(false);
});
