import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  CompletionBatch,
  type CompletionQueue,
  Mtu,
  QpState,
  QpType,
  RecvBatch,
  SendBatch,
  SendFlags,
  SrqType,
  WcFlags,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../src/index.js';
import { ALL_ACCESS, bench, createQp, datagram, pair, QKEY, take } from '../helpers/devices.js';

const { SIGNALED } = SendFlags;
const text = (buffer: ArrayBufferLike, offset: number, length: number) =>
  Buffer.from(buffer, offset, length).toString();

/** Polls until `batch` is full. */
async function fill(cq: CompletionQueue, batch: CompletionBatch): Promise<void> {
  await cq.wait();
  while (cq.pollBatch(batch) === 0) await cq.wait();
}

describe('a batch of sends', () => {
  it('is posted in parts, and again with other fields', async () => {
    const b = bench();
    const cap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 4, maxRecvSge: 4, maxInlineData: 64 };
    const [one, two] = pair(b, cap);
    const sends = new SendBatch(4);
    const receives = new RecvBatch(8);
    for (let i = 0; i < 4; i++)
      sends.set(i, { opcode: WrOpcode.SEND, wrId: i, sgList: [{ mr: b.mr, offset: i * 8, length: 8 }] });
    for (let i = 0; i < 8; i++)
      receives.set(i, { wrId: 100 + i, sgList: [{ mr: b.mr, offset: 4096 + i * 8, length: 8 }] });
    b.mr.bytes.set(Buffer.from('message0message1message2message3'));
    two.postRecvBatch(receives);
    one.postSendBatch(sends, 0, 3);
    one.postSendBatch(sends, 3);
    expect((await take(b.cq, 4)).map(({ wrId, byteLen }) => [wrId, byteLen])).toEqual([
      [100, 8],
      [101, 8],
      [102, 8],
      [103, 8],
    ]);
    expect(text(b.mr.buffer, 4096, 32)).toBe('message0message1message2message3');

    sends.setWrId(1, 2n ** 64n - 1n);
    sends.setSendFlags(1, SIGNALED | SendFlags.SOLICITED | SendFlags.FENCE);
    sends.setSge(1, 0, 16, 5);
    sends.setWrId(2, 2 ** 53 - 1);
    sends.setSendFlags(2, SIGNALED | SendFlags.INLINE);
    one.postSendBatch(sends, 1, 2);
    const list = await take(b.cq, 4);
    const ids = (opcode: number) =>
      list.filter((wc) => wc.opcode === opcode).map(({ wrId, byteLen }) => [wrId, byteLen]);
    expect(ids(WcOpcode.RECV)).toEqual([
      [104, 5],
      [105, 8],
    ]);
    expect(ids(WcOpcode.SEND).map(([wrId]) => wrId)).toEqual([2n ** 64n - 1n, 2 ** 53 - 1]);
    expect(text(b.mr.buffer, 4096 + 32, 5)).toBe('messa');
    expect(text(b.mr.buffer, 4096 + 40, 8)).toBe('message2');
    // Nothing was posted that was not asked for.
    one.postSendBatch(sends, 4);
    one.postSendBatch(sends, 0, 0);
    expect(b.cq.poll()).toEqual([]);
  });

  it('carries every operation', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const sends = new SendBatch(7, { maxSge: 2 });
    const remote = { remoteAddr: b.mr.addr + 4096n, rkey: b.mr.rkey };
    const local = (offset: number, length: number) => [{ mr: b.mr, offset, length }];
    const counter = new BigUint64Array(b.mr.buffer, 8192, 1);
    b.mr.bytes.set(Buffer.from('gathered'));
    counter[0] = 40n;
    sends.set(0, { opcode: WrOpcode.RDMA_WRITE, ...remote, sgList: [...local(4, 4), ...local(0, 4)] });
    sends.set(1, { opcode: WrOpcode.RDMA_READ, ...remote, sgList: local(1024, 8) });
    sends.set(2, { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, ...remote, immData: 1, sgList: [] });
    sends.set(3, { opcode: WrOpcode.SEND_WITH_IMM, immData: 0xffffffff });
    sends.set(4, { opcode: WrOpcode.SEND_WITH_INV, invalidateRkey: 1 });
    sends.set(5, { opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, ...remote, add: 1, sgList: local(2048, 8) });
    sends.set(6, { opcode: WrOpcode.ATOMIC_CMP_AND_SWP, ...remote, compare: 0, swap: 0, sgList: local(2056, 8) });
    sends.setImmData(2, 7);
    sends.setInvalidateRkey(4, 12345);
    for (const atomic of [5, 6]) sends.setRemote(atomic, Number(b.mr.addr) + 8192, b.mr.rkey);
    sends.setAdd(5, 2n);
    sends.setCompareSwap(6, 42, 2n ** 63n);
    for (let i = 0; i < 7; i++) sends.setSendFlags(i, SIGNALED);
    two.postRecv([{ wrId: 1 }, { wrId: 2 }]);
    one.postSendBatch(sends, 0, 4);
    one.postSendBatch(sends, 5, 2);
    const list = await take(b.cq, 8);
    expect(list.every(({ ok }) => ok)).toBe(true);
    // Some devices set WITH_IMM in the sender's completion, too.
    const received = list.filter(
      ({ opcode, wcFlags }) => opcode >= WcOpcode.RECV && (wcFlags & WcFlags.WITH_IMM) !== 0,
    );
    expect(received.map(({ wrId, immData }) => [wrId, immData])).toEqual([
      [1, 7],
      [2, 0xffffffff],
    ]);
    expect(text(b.mr.buffer, 4096, 8)).toBe('eredgath');
    expect(text(b.mr.buffer, 1024, 8)).toBe('eredgath');
    expect([...new BigUint64Array(b.mr.buffer, 2048, 2)]).toEqual([40n, 42n]);
    expect(counter[0]).toBe(2n ** 63n);
    // A key that names nothing: the peer refuses it.
    two.postRecv({ wrId: 3 });
    one.postSendBatch(sends, 4, 1);
    expect((await take(b.cq, 1))[0]?.ok).toBe(false);
  });

  it('sends datagrams, and keeps their address handles', async () => {
    const b = bench();
    const [one, two] = [datagram(b), datagram(b)];
    const dgid = b.ctx.defaultGid().gid;
    const address = () => b.pd.createAh({ portNum: 1, grh: { dgid } });
    const sends = new SendBatch(1);
    const sgList = [{ mr: b.mr, length: 4 }];
    sends.set(0, { opcode: WrOpcode.SEND, ah: address(), remoteQpn: 1, remoteQkey: QKEY, sgList });
    sends.setAddress(0, address(), two.qpNum, QKEY);
    for (let i = 0; i < 2; i++) two.postRecv({ wrId: i, sgList: [{ mr: b.mr, offset: 4096, length: 64 }] });
    one.postSendBatch(sends);
    one.postSendBatch(sends);
    expect(await take(b.cq, 2)).toMatchObject([{ byteLen: 44 }, { byteLen: 44, srcQp: one.qpNum }]);
    const gone = address();
    sends.setAddress(0, gone, two.qpNum, QKEY);
    gone.close();
    expect(() => {
      one.postSendBatch(sends);
    }).toThrow(/batch\[0\]\.ah is not an open AddressHandle/);
    sends.set(0, { opcode: WrOpcode.SEND, sgList });
    expect(() => {
      sends.setAddress(0, address(), 1, 1);
    }).toThrow(/a request without an address/);
    expect(() => {
      one.postSendBatch(sends);
    }).toThrow(/batch\[0\]\.ah is not an open AddressHandle/);
  });

  it('names the shared receive queue of an XRC peer', async () => {
    const b = bench();
    const xrcd = b.ctx.openXrcd();
    const srq = b.pd.createSrq({ maxWr: 8, srqType: SrqType.XRC, xrcd, cq: b.cq });
    const sender = b.pd.createQp({ qpType: QpType.XRC_SEND, sendCq: b.cq, cap: { maxSendWr: 8, maxRecvWr: 0 } });
    const receiver = xrcd.createQp();
    const gid = b.ctx.defaultGid().gid;
    sender.connect({ remote: { qpNum: receiver.qpNum, gid }, pathMtu: Mtu.MTU_1024 });
    receiver.connect({ remote: { qpNum: sender.qpNum, gid }, pathMtu: Mtu.MTU_1024, access: ALL_ACCESS });
    const receives = new RecvBatch(3, { maxSge: 0 });
    for (let i = 0; i < 3; i++) receives.set(i, { wrId: i });
    receives.setWrId(2, 20n);
    srq.postRecvBatch(receives, 1);
    const sends = new SendBatch(2);
    for (let i = 0; i < 2; i++) sends.set(i, { opcode: WrOpcode.SEND, remoteSrqn: srq.srqNum ?? 0 });
    sender.postSendBatch(sends);
    expect((await take(b.cq, 2)).map(({ wrId }) => wrId)).toEqual([1, 20n]);
  });
});

describe('a batch that cannot be posted', () => {
  it('names the wrong request, and the number of requests before it', async () => {
    const b = bench();
    const [one] = pair(b);
    const sends = new SendBatch(4);
    const request = { opcode: WrOpcode.SEND, sendFlags: SIGNALED, sgList: [{ mr: b.mr, length: 8 }] };
    for (const i of [0, 1, 3]) sends.set(i, request);
    const post = (first?: number, count?: number) => () => {
      one.postSendBatch(sends, first, count);
    };
    expect(post(1)).toThrow(
      expect.objectContaining({
        posted: 1,
        message: expect.stringMatching(/^batch\[2\] is a slot that holds no/) as unknown,
      }),
    );
    sends.set(2, request);
    sends.setSge(2, 0, b.mr.length - 4, 8);
    expect(post(2)).toThrow(
      expect.objectContaining({
        posted: 0,
        message: expect.stringMatching(/batch\[2\]\.sgList\[0\] reaches past/) as unknown,
      }),
    );
    const closed = b.pd.allocMr(64, 1);
    sends.set(2, { opcode: WrOpcode.SEND, sgList: [{ mr: closed, length: 8 }] });
    closed.close();
    expect(post(0)).toThrow(
      expect.objectContaining({ posted: 2, message: expect.stringMatching(/batch\[2\]\.sgList\[0\]\.mr/) as unknown }),
    );
    one.modify({ qpState: QpState.ERR });
    expect((await take(b.cq, 3)).map(({ status }) => status)).toEqual([5, 5, 5]);
  });

  it('reports a full queue, and goes on after completions', () => {
    const b = bench();
    const qp = createQp(b);
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
    const { maxRecvWr } = qp.cap;
    const receives = new RecvBatch(maxRecvWr + 1);
    for (let i = 0; i <= maxRecvWr; i++) receives.set(i, { wrId: i });
    expect(() => {
      qp.postRecvBatch(receives);
    }).toThrow(expect.objectContaining({ code: 'ENOMEM', posted: maxRecvWr }));
    qp.modify({ qpState: QpState.ERR });
    const done = new CompletionBatch(maxRecvWr);
    while (done.length === 0) b.cq.pollBatch(done);
    expect(done.wrId(0)).toBe(0);
    qp.postRecvBatch(receives, maxRecvWr);
  });

  it('is refused by its arguments', () => {
    const b = bench();
    const [one] = pair(b);
    const sends = new SendBatch(2);
    const receives = new RecvBatch(2);
    const post =
      (...args: unknown[]) =>
      () => {
        Reflect.apply(one.postSendBatch.bind(one), undefined, args);
      };
    for (const junk of [undefined, null, 1, {}, new Uint8Array(96), receives])
      expect(post(junk)).toThrow(/^batch must be a SendBatch/);
    for (const first of [-1, 3, 0.5, '0', NaN]) expect(post(sends, first)).toThrow(/^first must be/);
    for (const count of [-1, 3, 0.5, '1']) expect(post(sends, 0, count)).toThrow(/^count must be/);
    expect(post(sends, 2, 1)).toThrow(/^count must be an integer from 0 to 0/);
    for (const junk of [undefined, null, {}, sends])
      expect(() => b.cq.pollBatch(junk as never)).toThrow(/^batch must be a CompletionBatch/);
    for (const max of [0, 3, '1'])
      expect(() => b.cq.pollBatch(new CompletionBatch(2), max as never)).toThrow(/^max must/);
    one.close();
    expect(post(sends)).toThrow(expect.objectContaining({ code: 'ERR_VERBS_CLOSED' }));
  });
});

describe('the slots of a batch', () => {
  it('take only what fits', () => {
    const { mr, pd } = bench();
    const sends = new SendBatch(2);
    const two = [{ mr }, { mr }];
    const set =
      (wr: unknown, index = 0) =>
      () => {
        sends.set(index, wr as never);
      };
    sends.set(0, { opcode: WrOpcode.SEND });
    expect(set({ opcode: WrOpcode.SEND, sgList: two })).toThrow(/its maxSge is 1/);
    // It was overwritten in part.
    expect(() => {
      sends.setWrId(0, 1);
    }).toThrow(/slot that holds no request/);
    const bind = { mw: pd.allocMw(), rkey: 1, bindInfo: {} };
    expect(set({ opcode: WrOpcode.BIND_MW, ...bind })).toThrow(/wr\.opcode is BIND_MW, which goes by postSend/);
    for (const index of [-1, 2, 0.5, NaN, '0', null]) expect(set({}, index as number)).toThrow(/^index must/);
    const nested = {
      opcode: WrOpcode.SEND,
      get wrId() {
        sends.set(1, { opcode: WrOpcode.SEND });
        return 1;
      },
    };
    expect(set(nested)).toThrow(/writes into the same batch/);
    expect(set(null)).toThrow(/^wr must be a work request/);
    for (const capacity of [0, -1, 1.5, 2 ** 21, '4', undefined]) {
      expect(() => new SendBatch(capacity as number)).toThrow(/^capacity must/);
      if (capacity !== undefined) expect(() => new CompletionBatch(capacity as number)).toThrow(/^capacity must/);
    }
    expect(() => new RecvBatch(1, { maxSge: -1 })).toThrow(/^options\.maxSge must/);
    expect(() => new RecvBatch(1, { sges: 1 } as never)).toThrow(/options\.sges is not known/);
    expect(inspect(new RecvBatch(3, { maxSge: 2 }))).toBe('RecvBatch { capacity: 3, maxSge: 2 }');
  });

  it('refuse fields that their request does not have', () => {
    const { mr } = bench();
    const sends = new SendBatch(2);
    sends.set(0, { opcode: WrOpcode.SEND, sgList: [{ mr, length: 8 }] });
    sends.set(1, {
      opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
      remoteAddr: 0,
      rkey: 1,
      add: 1,
      sgList: [{ mr, length: 8 }],
    });
    const calls: [RegExp, () => void][] = [
      [
        /SEND, which has no immData/,
        () => {
          sends.setImmData(0, 1);
        },
      ],
      [
        /SEND, which has no remoteAddr/,
        () => {
          sends.setRemote(0, 1);
        },
      ],
      [
        /SEND, which has no invalidateRkey/,
        () => {
          sends.setInvalidateRkey(0, 1);
        },
      ],
      [
        /SEND, which has no add/,
        () => {
          sends.setAdd(0, 1);
        },
      ],
      [
        /ATOMIC_FETCH_AND_ADD, which has no compare/,
        () => {
          sends.setCompareSwap(1, 1, 1);
        },
      ],
      [
        /^element must be one of the request's 1 elements/,
        () => {
          sends.setSge(0, 1, 0, 1);
        },
      ],
      [
        /^offset must/,
        () => {
          sends.setSge(0, 0, -1, 1);
        },
      ],
      [
        /^length must/,
        () => {
          sends.setSge(0, 0, 0, 2 ** 32);
        },
      ],
      [
        /^sendFlags must/,
        () => {
          sends.setSendFlags(0, -1 as number);
        },
      ],
      [
        /^wrId must/,
        () => {
          sends.setWrId(0, 2 ** 53);
        },
      ],
      [
        /^wrId must/,
        () => {
          sends.setWrId(0, -1n);
        },
      ],
      [
        /^rkey must/,
        () => {
          sends.setRemote(1, 1, 2 ** 32);
        },
      ],
      [
        /^swap must|^compare must|which has no compare/,
        () => {
          sends.setCompareSwap(1, -1, 1);
        },
      ],
    ];
    for (const [message, call] of calls) expect(call).toThrow(message);
  });
});

describe('a batch of completions', () => {
  it('has every field, and more on demand', async () => {
    const b = bench();
    const [one, two] = pair(b);
    two.postRecv({ wrId: 5, sgList: [{ mr: b.mr, offset: 4096, length: 64 }] });
    one.postSend({ opcode: WrOpcode.SEND_WITH_IMM, immData: 99, sgList: [{ mr: b.mr, length: 24 }] });
    const done = new CompletionBatch(4);
    await fill(b.cq, done);
    expect(done.length).toBe(1);
    expect([done.wrId(0), done.status(0), done.ok(0), done.opcode(0), done.byteLen(0), done.immData(0)]).toEqual([
      5,
      WcStatus.SUCCESS,
      true,
      WcOpcode.RECV,
      24,
      99,
    ]);
    expect([done.qpNum(0), done.wcFlags(0), done.vendorErr(0), done.invalidatedRkey(0)]).toEqual([
      two.qpNum,
      WcFlags.WITH_IMM,
      0,
      99,
    ]);
    expect(done.at(0)).toMatchObject({ wrId: 5, byteLen: 24, immData: 99, srcQp: done.srcQp(0), qpNum: two.qpNum });
    for (const index of [-1, 1, 0.5, NaN, '0'])
      expect(() => done.ok(index as number)).toThrow(/^index must be that of one of the 1/);
    expect(inspect(done)).toBe('CompletionBatch { capacity: 4, length: 1 }');
    expect(b.cq.pollBatch(done)).toBe(0);
    expect(() => done.wrId(0)).toThrow(RangeError);
  });

  it('gets the completions that wait() polled, in their order', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const receives = new RecvBatch(16);
    for (let i = 0; i < 16; i++) receives.set(i, { wrId: i < 8 ? i : BigInt(i) });
    two.postRecvBatch(receives);
    const sends = new SendBatch(16);
    for (let i = 0; i < 16; i++) sends.set(i, { opcode: WrOpcode.SEND });
    one.postSendBatch(sends);
    const ids: (bigint | number)[] = [];
    const done = new CompletionBatch(16);
    await b.cq.wait();
    ids.push(...b.cq.poll(1).map(({ wrId }) => wrId));
    while (ids.length < 16) {
      await b.cq.wait();
      const count = b.cq.pollBatch(done, Math.min(3, 16 - ids.length));
      for (let i = 0; i < count; i++) ids.push(done.wrId(i));
    }
    expect(ids).toEqual(Array.from({ length: 16 }, (_, i) => (i < 8 ? i : BigInt(i))));
  });

  it('says why a request failed', async () => {
    const b = bench();
    const [one] = pair(b);
    const sends = new SendBatch(1);
    sends.set(0, { opcode: WrOpcode.RDMA_WRITE, wrId: 3n, remoteAddr: 1, rkey: 2, sgList: [{ mr: b.mr, length: 8 }] });
    one.postSendBatch(sends);
    const done = new CompletionBatch();
    await fill(b.cq, done);
    expect([done.ok(0), done.status(0), done.wrId(0)]).toEqual([false, WcStatus.REM_ACCESS_ERR, 3n]);
    expect(done.at(0).statusName).toBe('REM_ACCESS_ERR');
  });
});
