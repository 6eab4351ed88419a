import { closeSync, openSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { EventType, Mtu, QpState, QpType, SendFlags, SrqType, WcOpcode, WrOpcode } from '../../src/index.js';
import { ALL_ACCESS, bench, type Bench, take } from '../helpers/devices.js';

const CAP = { maxSendWr: 16, maxRecvWr: 0 };

/** `count` senders and `count` receivers that share one queue. */
function shared(b: Bench, count: number, maxWr = 16) {
  const srq = b.pd.createSrq({ maxWr });
  const gid = b.ctx.defaultGid().gid;
  const pairs = Array.from({ length: count }, () => {
    const base = { qpType: QpType.RC, sendCq: b.cq, recvCq: b.cq };
    const sender = b.pd.createQp({ ...base, cap: { maxSendWr: 16, maxRecvWr: 1 } });
    const receiver = b.pd.createQp({ ...base, cap: CAP, srq });
    sender.connect({ remote: { qpNum: receiver.qpNum, gid }, pathMtu: Mtu.MTU_1024 });
    receiver.connect({ remote: { qpNum: sender.qpNum, gid }, pathMtu: Mtu.MTU_1024, access: ALL_ACCESS });
    return { sender, receiver };
  });
  return { srq, pairs };
}

describe('a shared receive queue', () => {
  it('serves several queue pairs, and gives every wrId back', async () => {
    const b = bench();
    const { srq, pairs } = shared(b, 3);
    srq.postRecv(
      Array.from({ length: 6 }, (_, i) => ({ wrId: 100 + i, sgList: [{ mr: b.mr, offset: i * 64, length: 64 }] })),
    );
    for (const { sender } of pairs) {
      sender.postSend([0, 1].map((n) => ({ wrId: n, opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED })));
    }
    const list = await take(b.cq, 12);
    expect(list.every(({ ok }) => ok)).toBe(true);
    const received = list.filter(({ opcode }) => opcode === WcOpcode.RECV).map(({ wrId }) => wrId);
    expect(received.sort()).toEqual([100, 101, 102, 103, 104, 105]);
  });

  it('has room again for what has completed, in whatever order', async () => {
    const b = bench();
    const { srq, pairs } = shared(b, 2, 4);
    for (let round = 0; round < 8; round++) {
      srq.postRecv(Array.from({ length: srq.maxWr }, (_, i) => ({ wrId: round * 100 + i })));
      expect(() => {
        srq.postRecv({});
      }).toThrow(/ENOMEM/);
      for (let i = 0; i < srq.maxWr; i++) {
        pairs[i % 2]?.sender.postSend({ opcode: WrOpcode.SEND, sendFlags: i > srq.maxWr - 3 ? SendFlags.SIGNALED : 0 });
      }
      const list = await take(b.cq, srq.maxWr + 2);
      const ids = list.filter(({ opcode }) => opcode === WcOpcode.RECV).map(({ wrId }) => wrId);
      expect(ids.sort()).toEqual(Array.from({ length: srq.maxWr }, (_, i) => round * 100 + i));
    }
  });

  it('has a size and a limit, and both can change', () => {
    const { pd } = bench();
    const srq = pd.createSrq({ maxWr: 8, maxSge: 2 });
    expect(srq.query()).toEqual({ maxWr: srq.maxWr, maxSge: srq.maxSge, srqLimit: 0 });
    srq.postRecv([{}, {}, {}, {}, {}]);
    srq.modify({ srqLimit: 4 });
    expect(srq.query().srqLimit).toBe(4);
    srq.modify({ maxWr: 64 });
    expect(srq.maxWr).toBeGreaterThanOrEqual(64);
    srq.postRecv(Array.from({ length: 59 }, (_, i) => ({ wrId: i })));
    expect(() => {
      srq.modify({ srqLimit: 0x7fffff });
    }).toThrow(expect.objectContaining({ code: 'EINVAL', syscall: 'ibv_modify_srq' }));
  });

  it('raises the limit event once, with itself as the element', async () => {
    const b = bench();
    const { srq, pairs } = shared(b, 1);
    srq.postRecv([{}, {}, {}]);
    srq.modify({ srqLimit: 3 });
    const events = b.ctx.asyncEvents();
    const event = events.next();
    pairs[0]?.sender.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED });
    for (let got = await event; got.done !== true; got = await events.next()) {
      if (got.value.type !== EventType.SRQ_LIMIT_REACHED) continue;
      expect(got.value.element).toBe(srq);
      break;
    }
    await events.return();
    expect(srq.query().srqLimit).toBe(0);
  });

  it('raises an event when a queue pair in error takes no more requests', async () => {
    const b = bench();
    const { pairs } = shared(b, 1);
    const events = b.ctx.asyncEvents();
    const event = events.next();
    pairs[0]?.receiver.modify({ qpState: QpState.ERR });
    for (let got = await event; got.done !== true; got = await events.next()) {
      if (got.value.type !== EventType.QP_LAST_WQE_REACHED) continue;
      expect(got.value.element).toBe(pairs[0]?.receiver);
      break;
    }
    await events.return();
  });

  it('is in use while a queue pair has it, and goes with its protection domain', () => {
    const b = bench();
    const { srq, pairs } = shared(b, 1);
    // Children first: the queue pair is one.
    srq.close();
    expect(pairs[0]?.receiver.closed).toBe(true);
    const other = b.pd.createSrq({ maxWr: 1 });
    b.pd.close();
    expect(other.closed).toBe(true);
  });

  it('gives completions that come after its end their wrId', async () => {
    const b = bench();
    const { srq, pairs } = shared(b, 1);
    srq.postRecv({ wrId: 7 });
    pairs[0]?.sender.postSend({ wrId: 8, opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED });
    while (b.cq.poll(0x1).length === 0) await setImmediate();
    srq.close();
    // The one that was not polled yet.
    const rest = b.cq.poll();
    for (const { wrId } of rest) expect([7, 8]).toContain(wrId);
  });

  it('refuses what is no size', () => {
    const { pd } = bench();
    const bad: [object, RegExp][] = [
      [{ maxWr: 0 }, /^attr\.maxWr must be an integer from 1/],
      [{ maxWr: 1, maxSge: -1 }, /^attr\.maxSge/],
      [{ maxWr: 1, limit: 1 }, /^attr\.limit is not known/],
      [{ maxWr: 1, cq: {} }, /^attr\.cq must be a CompletionQueue/],
      [{}, /^attr\.maxWr must be a number/],
    ];
    for (const [attr, message] of bad) {
      expect(() => pd.createSrq(attr as { maxWr: number })).toThrow(message);
    }
  });
});

describe('XRC', () => {
  it('sends to one of the shared queues of the peer', async () => {
    const b = bench();
    const xrcd = b.ctx.openXrcd();
    const srqs = [1, 2].map(() => b.pd.createSrq({ maxWr: 8, srqType: SrqType.XRC, xrcd, cq: b.cq }));
    const sender = b.pd.createQp({ qpType: QpType.XRC_SEND, sendCq: b.cq, cap: { maxSendWr: 8, maxRecvWr: 0 } });
    const receiver = xrcd.createQp();
    const gid = b.ctx.defaultGid().gid;
    sender.connect({ remote: { qpNum: receiver.qpNum, gid }, pathMtu: Mtu.MTU_1024 });
    receiver.connect({ remote: { qpNum: sender.qpNum, gid }, pathMtu: Mtu.MTU_1024, access: ALL_ACCESS });
    srqs.forEach((srq, i) => {
      srq.postRecv({ wrId: 10 + i, sgList: [{ mr: b.mr, offset: 1024 * i, length: 64 }] });
    });
    b.mr.bytes.set(Buffer.from('xrc'), 8192);
    for (const srq of srqs) {
      sender.postSend({
        opcode: WrOpcode.SEND,
        sendFlags: SendFlags.SIGNALED,
        remoteSrqn: srq.srqNum ?? 0,
        sgList: [{ mr: b.mr, offset: 8192, length: 3 }],
      });
    }
    const list = await take(b.cq, 4);
    expect(list.every(({ ok }) => ok)).toBe(true);
    expect(list.filter(({ opcode }) => opcode === WcOpcode.RECV).map(({ wrId }) => wrId)).toEqual([10, 11]);
    expect(Buffer.from(b.mr.buffer, 1024, 3).toString()).toBe('xrc');
  });

  it('shares a domain that a file names', () => {
    const { ctx } = bench();
    const fd = openSync('/dev/null', 'r');
    const one = ctx.openXrcd({ fd });
    const two = ctx.openXrcd({ fd });
    const qp = one.createQp();
    expect(two.openQp(qp.qpNum).qpNum).toBe(qp.qpNum);
    expect(() => ctx.openXrcd({ fd, exclusive: true })).toThrow();
    closeSync(fd);
  });
});
