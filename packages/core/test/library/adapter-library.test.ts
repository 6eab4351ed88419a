import { describe, expect, it } from 'vitest';
import { native } from '../../src/base/native.js';
import { kHandle } from '../../src/base/symbols.js';
import {
  type Context,
  EventType,
  QpState,
  QpType,
  type QueuePair,
  SendFlags,
  SrqType,
  WcExFlags,
  WqState,
  WrOpcode,
} from '../../src/index.js';
import { fakeLibrary, openThrough } from '../helpers/fake-library.js';
import { ALL_ACCESS, take } from '../helpers/devices.js';

/**
 * What libraries of adapters do and the software NIC does not. mlx4 and mlx5 drop the completions of a queue that is
 * destroyed or reset, and no provider of rdma-core writes the program's context into what ibv_create_srq_ex() makes.
 */
const adapter = {
  source: `#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
static void *soft(const char *name) { return dlvsym(dlopen(SOFT, RTLD_NOW), name, "IBVERBS_1.1"); }
static void clean(struct ibv_cq *cq) {
  struct ibv_wc wc;
  while (cq && ibv_poll_cq(cq, 1, &wc) > 0) continue;
}
int ibv_destroy_qp(struct ibv_qp *qp) {
  clean(qp->send_cq);
  clean(qp->recv_cq);
  return ((int (*)(struct ibv_qp *))soft("ibv_destroy_qp"))(qp);
}
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask) {
  if ((mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET) {
    clean(qp->send_cq);
    clean(qp->recv_cq);
  }
  return ((int (*)(struct ibv_qp *, struct ibv_qp_attr *, int))soft("ibv_modify_qp"))(qp, attr, mask);
}
static struct ibv_srq *(*create)(struct ibv_context *, struct ibv_srq_init_attr_ex *);
static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr) {
  struct ibv_srq *srq = create(context, attr);
  if (srq) srq->srq_context = NULL;
  return srq;
}
static int (*destroy)(struct ibv_wq *);
static int destroy_wq(struct ibv_wq *wq) {
  clean(wq->cq);
  return destroy(wq);
}
struct ibv_context *ibv_open_device(struct ibv_device *device) {
  struct ibv_context *context = ((struct ibv_context *(*)(struct ibv_device *))soft("ibv_open_device"))(device);
  if (context) {
    struct verbs_context *extended = verbs_get_ctx(context);
    create = extended->create_srq_ex;
    extended->create_srq_ex = create_srq_ex;
    destroy = extended->destroy_wq;
    extended->destroy_wq = destroy_wq;
  }
  return context;
}
`,
  exports: { version: 'IBVERBS_1.1', functions: ['ibv_open_device', 'ibv_destroy_qp', 'ibv_modify_qp'] },
};

const CAP = { maxSendWr: 8, maxRecvWr: 8, maxSendSge: 1, maxRecvSge: 1 };

function connect(ctx: Context, one: QueuePair, two: QueuePair): void {
  const { gid } = ctx.defaultGid();
  one.connect({ remote: { qpNum: two.qpNum, gid } });
  two.connect({ remote: { qpNum: one.qpNum, gid } });
}

describe.each([
  ['destroyed', 'close'],
  ['reset', 'reset'],
] as const)('a queue pair that is %s', (_how, what) => {
  const end = (qp: QueuePair) => {
    if (what === 'close') qp.close();
    else qp.modify({ qpState: QpState.RESET });
  };

  it.each([
    ['a completion queue', {}],
    ['an extended one', { wcFlags: WcExFlags.BYTE_LEN | WcExFlags.QP_NUM }],
  ])('leaves what came by its shared receive queue to %s, and the places there', async (_name, options) => {
    using ctx = openThrough(fakeLibrary(adapter));
    const pd = ctx.allocPd();
    const channel = ctx.createCompChannel();
    const [cq, sent] = [ctx.createCq(64, { channel, ...options }), ctx.createCq(64, { channel })];
    const mr = pd.allocMr(4096, ALL_ACCESS);
    const srq = pd.createSrq({ maxWr: 4 });
    for (let round = 0; round < 3; round++) {
      const client = pd.createQp({ qpType: QpType.RC, sendCq: sent, recvCq: sent, cap: CAP });
      const server = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, srq, cap: { ...CAP, maxRecvWr: 0 } });
      connect(ctx, client, server);
      const ids = [0, 1, 2, 3].map((i) => 10 * round + i);
      srq.postRecv(ids.map((wrId) => ({ wrId, sgList: [{ mr, length: 64 }] })));
      const sgList = [{ mr, offset: 64, length: 10 + round }];
      client.postSend(ids.map(() => ({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList })));
      await take(sent, 4);
      end(server);
      // Those that a poll found after the end go in front of what comes later.
      const got = [...cq.poll(1), ...cq.poll(2), ...cq.poll(16)];
      expect(got.map(({ wrId, byteLen }) => [wrId, byteLen])).toEqual(ids.map((wrId) => [wrId, 10 + round]));
      expect(cq.poll()).toEqual([]);
    }
  });

  it('settles what awaits a request of it that had completed', async () => {
    using ctx = openThrough(fakeLibrary(adapter));
    const pd = ctx.allocPd();
    const channel = ctx.createCompChannel();
    const [cq, sent] = [ctx.createCq(64, { channel }), ctx.createCq(64)];
    const mr = pd.allocMr(4096, ALL_ACCESS);
    const client = pd.createQp({ qpType: QpType.RC, sendCq: sent, recvCq: sent, cap: CAP });
    const server = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: CAP });
    connect(ctx, client, server);
    const waiting = server.recv({ wrId: 7, sgList: [{ mr, length: 8 }] });
    client.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: 5 }] });
    const until = Date.now() + 10_000;
    while (sent.poll().length === 0) expect(Date.now()).toBeLessThan(until);
    end(server);
    await expect(waiting).resolves.toMatchObject({ wrId: 7, byteLen: 5 });
  });
});

it('a receive work queue that is destroyed leaves its completions', () => {
  using ctx = openThrough(fakeLibrary(adapter));
  const pd = ctx.allocPd();
  const cq = ctx.createCq(16);
  const mr = pd.allocMr(64, ALL_ACCESS);
  const wq = pd.createWq({ cq, maxWr: 4 });
  wq.modify({ wqState: WqState.RDY });
  wq.postRecv([1, 2, 3].map((wrId) => ({ wrId, sgList: [{ mr, length: 64 }] })));
  wq.modify({ wqState: WqState.ERR });
  wq.close();
  expect(cq.poll().map(({ wrId, statusName }) => [wrId, statusName])).toEqual(
    [1, 2, 3].map((wrId) => [wrId, 'WR_FLUSH_ERR']),
  );
});

it('a shared receive queue of an XRC domain has its events', async () => {
  using ctx = openThrough(fakeLibrary(adapter));
  const pd = ctx.allocPd();
  const cq = ctx.createCq(16);
  const mr = pd.allocMr(64, ALL_ACCESS);
  const xrcd = ctx.openXrcd();
  const srq = pd.createSrq({ maxWr: 8, srqType: SrqType.XRC, xrcd, cq });
  const sender = pd.createQp({ qpType: QpType.XRC_SEND, sendCq: cq, cap: { maxSendWr: 8, maxRecvWr: 0 } });
  const receiver = xrcd.createQp();
  connect(ctx, sender, receiver);
  srq.postRecv([{ sgList: [{ mr }] }, { sgList: [{ mr }] }]);
  srq.modify({ srqLimit: 2 });
  sender.postSend({ opcode: WrOpcode.SEND, remoteSrqn: srq.srqNum ?? 0, sgList: [{ mr, length: 8 }] });
  for await (const event of ctx.asyncEvents({ signal: AbortSignal.timeout(20_000) })) {
    if (event.type !== EventType.SRQ_LIMIT_REACHED) continue;
    expect(event.element).toBe(srq);
    return;
  }
});

it('a queue that there is no memory for leaves nothing behind, and one beyond all adapters is refused', () => {
  using ctx = openThrough(fakeLibrary(adapter));
  const pd = ctx.allocPd();
  const cq = ctx.createCq(16);
  const cap = { maxSendWr: 4, maxRecvWr: 2 ** 20, maxRecvSge: 65535 };
  // Its C object takes no notice of the receive queue, which is made here.
  expect(() => pd.createQp({ qpType: QpType.XRC_SEND, sendCq: cq, recvCq: cq, cap })).toThrow(
    expect.objectContaining({ code: 'ENOMEM' }),
  );
  const [domain, queue] = [pd[kHandle], cq[kHandle]];
  const given = { pd: domain, sendCq: queue, recvCq: queue, qpType: QpType.XRC_SEND, sqSigAll: false };
  for (const wrong of [{ maxRecvWr: 0xffff_ffff }, { maxSendWr: 0xffff_ffff }, { maxRecvSge: 0xffff_ffff }]) {
    const all = { maxSendWr: 4, maxRecvWr: 4, maxSendSge: 1, maxRecvSge: 1, maxInlineData: 0, ...wrong };
    expect(native.createQp({ ...given, cap: all })).toBe(-22);
  }
  expect(() => {
    pd.close();
  }).not.toThrow();
});
