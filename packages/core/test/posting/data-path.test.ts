import { describe, expect, it } from 'vitest';
import {
  AccessFlags,
  QpState,
  QpType,
  SendFlags,
  type SendWr,
  VerbsError,
  WcFlags,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../src/index.js';
import { bench, createQp, datagram, pair, QKEY, take } from '../helpers/devices.js';

const { SIGNALED } = SendFlags;

function thrown(run: () => void): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

describe('inline data', () => {
  const CAP = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 4, maxRecvSge: 4, maxInlineData: 64 };
  const inline = { opcode: WrOpcode.SEND, sendFlags: SendFlags.INLINE };

  it('is taken from the memory of a region whatever address its keys have', async () => {
    const b = bench();
    const [one, two] = pair(b, CAP);
    for (const options of [{ iova: 0x1000n }, {}]) {
      const access = AccessFlags.LOCAL_WRITE | (options.iova === undefined ? AccessFlags.ZERO_BASED : 0);
      const mr = b.pd.allocMr(4096, access, options);
      mr.bytes.set(Buffer.from('its own bytes'), 8);
      two.postRecv({ sgList: [{ mr: b.mr, length: 64 }] });
      await one.send({ ...inline, sgList: [{ mr, offset: 8, length: 13 }] });
      await take(b.cq, 1);
      expect(Buffer.from(b.mr.buffer, 0, 13).toString()).toBe('its own bytes');
    }
  });

  it('is refused from a region without memory of the process', () => {
    const b = bench();
    const [one] = pair(b, CAP);
    const dm = b.ctx.allocDm(64);
    const secret = b.pd.allocMr(64, AccessFlags.LOCAL_WRITE);
    const regions = [b.pd.allocNullMr(), b.pd.regDmMr(dm, AccessFlags.LOCAL_WRITE), b.pd.importMr(secret.mrHandle)];
    for (const mr of regions) {
      const offset = mr === regions[0] ? Number(secret.addr) : 0;
      expect(() => {
        one.postSend({ ...inline, sgList: [{ mr, offset, length: 16 }] });
      }).toThrow(/^wr\.sgList\[0\]\.mr has no memory of this process/);
    }
  });
});

it('an offset belongs to a remote region, and not beside an address', () => {
  const b = bench();
  const [one] = pair(b);
  const wr = { opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr: b.mr, length: 8 }] };
  expect(() => {
    one.postSend({ ...wr, remoteAddr: b.mr.addr, rkey: b.mr.rkey, remoteOffset: 32 } as never);
  }).toThrow(/^wr\.remoteOffset belongs to remote/);
});

it('a poll takes no more than its number', async () => {
  const b = bench();
  const [one] = pair(b);
  for (let i = 0; i < 3; i++)
    one.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList: [], remote: b.mr.remote() });
  await b.cq.wait();
  expect(b.cq.poll(1.9)).toHaveLength(1);
});

describe('RC', () => {
  it('sends, gathering and scattering', async () => {
    const b = bench();
    const [one, two] = pair(b);
    b.mr.bytes.set(Buffer.from('hello, world'));
    two.postRecv({
      wrId: 2n ** 64n - 1n,
      sgList: [
        { mr: b.mr, offset: 4096, length: 5 },
        { mr: b.mr, offset: 5000, length: 100 },
      ],
    });
    one.postSend({
      wrId: 2 ** 53 - 1,
      opcode: WrOpcode.SEND,
      sendFlags: SIGNALED,
      sgList: [
        { mr: b.mr, offset: 7, length: 5 },
        { mr: b.mr, offset: 0, length: 0 },
        { mr: b.mr, offset: 0, length: 7 },
      ],
    });
    const list = await take(b.cq, 2);
    const received = list.find(({ opcode }) => opcode === WcOpcode.RECV);
    const sent = list.find(({ opcode }) => opcode === WcOpcode.SEND);
    expect(received).toMatchObject({
      wrId: 2n ** 64n - 1n,
      status: WcStatus.SUCCESS,
      byteLen: 12,
      qpNum: two.qpNum,
      ok: true,
    });
    expect(sent).toMatchObject({ wrId: 2 ** 53 - 1, status: WcStatus.SUCCESS, qpNum: one.qpNum, opcodeName: 'SEND' });
    expect(Buffer.from(b.mr.buffer, 4096, 5).toString()).toBe('world');
    expect(Buffer.from(b.mr.buffer, 5000, 7).toString()).toBe('hello, ');
  });

  it('carries immediate data as the number that it is', async () => {
    const b = bench();
    const [one, two] = pair(b);
    two.postRecv([{ wrId: 1 }, { wrId: 2 }]);
    one.postSend([
      { opcode: WrOpcode.SEND_WITH_IMM, immData: 0xdeadbeef },
      {
        opcode: WrOpcode.RDMA_WRITE_WITH_IMM,
        immData: 1,
        remoteAddr: b.mr.addr + 4096n,
        rkey: b.mr.rkey,
        sgList: [{ mr: b.mr, length: 16 }],
      },
    ]);
    const [first, second] = await take(b.cq, 2);
    expect(first).toMatchObject({
      wrId: 1,
      opcodeName: 'RECV',
      immData: 0xdeadbeef,
      wcFlags: WcFlags.WITH_IMM,
      byteLen: 0,
    });
    expect(second).toMatchObject({ wrId: 2, opcodeName: 'RECV_RDMA_WITH_IMM', immData: 1, byteLen: 16 });
  });

  it('writes and reads remote memory', async () => {
    const b = bench();
    const [one] = pair(b);
    const remote = b.pd.allocMr(8192, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ);
    b.mr.bytes.fill(0xab, 0, 5000);
    const { rkey } = remote;
    one.postSend({
      opcode: WrOpcode.RDMA_WRITE,
      remoteAddr: remote.addr + 10n,
      rkey,
      sgList: [{ mr: b.mr, length: 5000 }],
    });
    one.postSend({
      wrId: 9,
      opcode: WrOpcode.RDMA_READ,
      sendFlags: SIGNALED,
      remoteAddr: remote.addr,
      rkey,
      sgList: [{ mr: b.mr, offset: 32768, length: 5010 }],
    });
    const [read] = await take(b.cq, 1);
    expect(read).toMatchObject({ wrId: 9, ok: true, opcodeName: 'RDMA_READ', byteLen: 5010 });
    expect(remote.bytes.subarray(10, 5010).every((byte) => byte === 0xab)).toBe(true);
    expect(Buffer.from(b.mr.buffer, 32768, 5010).equals(Buffer.from(remote.buffer, 0, 5010))).toBe(true);
  });

  it('reports remote access errors as completions', async () => {
    const b = bench();
    const [one] = pair(b);
    const remoteAddr = b.mr.addr;
    one.postSend({ wrId: 3, opcode: WrOpcode.RDMA_WRITE, remoteAddr, rkey: 0xbad, sgList: [{ mr: b.mr, length: 8 }] });
    const [wc] = await take(b.cq, 1);
    expect(wc).toMatchObject({ wrId: 3, ok: false, status: WcStatus.REM_ACCESS_ERR, statusName: 'REM_ACCESS_ERR' });
    expect(wc?.statusText).toMatch(/remote access error/i);
  });

  it('flushes both queues with their own ids when the queue pair fails', async () => {
    const b = bench();
    const [one] = pair(b);
    one.postRecv([{ wrId: 1 }, { wrId: 2n }]);
    one.modify({ qpState: QpState.ERR });
    one.postSend({ wrId: 3, opcode: WrOpcode.SEND });
    const list = await take(b.cq, 3);
    expect(list.map(({ wrId }) => wrId).sort()).toEqual([1, 2n, 3]);
    expect(list.every(({ status }) => status === WcStatus.WR_FLUSH_ERR)).toBe(true);
  });

  it('posts far more than one chunk in one call', async () => {
    const b = bench();
    const [one, two] = pair(b, { maxSendWr: 100, maxRecvWr: 100, maxSendSge: 1, maxRecvSge: 1 });
    two.postRecv(
      Array.from({ length: 100 }, (_, i) => ({ wrId: i, sgList: [{ mr: b.mr, offset: 8 * i, length: 8 }] })),
    );
    one.postSend(Array.from({ length: 100 }, () => ({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: 8 }] })));
    const list = await take(b.cq, 100);
    expect(list.map(({ wrId }) => wrId)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });
});

describe('UD', () => {
  it('sends datagrams through an address handle', async () => {
    const b = bench();
    const [one, two] = [datagram(b), datagram(b)];
    const ah = b.pd.createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } });
    b.mr.bytes.set(Buffer.from('datagram'));
    two.postRecv({ wrId: 1, sgList: [{ mr: b.mr, offset: 4096, length: 2048 }] });
    one.postSend({
      opcode: WrOpcode.SEND_WITH_IMM,
      immData: 77,
      ah,
      remoteQpn: two.qpNum,
      remoteQkey: QKEY,
      sgList: [{ mr: b.mr, length: 8 }],
    });
    // The request keeps what it needs.
    ah.close();
    const [wc] = await take(b.cq, 1);
    expect(wc).toMatchObject({ wrId: 1, ok: true, byteLen: 48, srcQp: one.qpNum, immData: 77 });
    expect((wc?.wcFlags ?? 0) & WcFlags.GRH).toBe(WcFlags.GRH);
    expect(Buffer.from(b.mr.buffer, 4096 + 40, 8).toString()).toBe('datagram');
  });

  it('needs an open address handle of the same device', () => {
    const b = bench();
    const qp = datagram(b);
    const to = { remoteQpn: 1, remoteQkey: QKEY };
    const post = (fields: object) => () => {
      qp.postSend({ opcode: WrOpcode.SEND, ...to, ...fields });
    };
    expect(post({})).toThrow(/wr\.ah must be an AddressHandle/);
    expect(post({ ah: b.mr })).toThrow(/wr\.ah must be an AddressHandle/);
    const ah = b.pd.createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } });
    expect(post({ ah, remoteQpn: -1 })).toThrow(/wr\.remoteQpn/);
    ah.close();
    expect(post({ ah })).toThrow(expect.objectContaining({ code: 'ERR_VERBS_CLOSED' }));
    const other = bench();
    const foreign = other.pd.createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } });
    expect(post({ ah: foreign })).toThrow(/open AddressHandle of this queue pair's device/);
  });
});

describe('refusals', () => {
  it('names the request and its element, and posts what came before', async () => {
    const b = bench();
    const [one, two] = pair(b);
    two.postRecv([{ wrId: 1 }, { wrId: 2 }, { wrId: 3 }]);
    const good: SendWr = { opcode: WrOpcode.SEND };
    const bad: SendWr = {
      opcode: WrOpcode.SEND,
      sgList: [
        { mr: b.mr, length: 1 },
        { mr: b.mr, offset: 65530, length: 7 },
      ],
    };
    let error: unknown;
    try {
      one.postSend([good, good, bad, good]);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ posted: 2, code: 'ERR_OUT_OF_RANGE' });
    expect((error as Error).message).toMatch(/^wr\[2\]\.sgList\[1\] reaches past the end/);
    expect((await take(b.cq, 2)).map(({ wrId }) => wrId)).toEqual([1, 2]);
    // The refused request left nothing behind.
    one.postSend({ wrId: 5, opcode: WrOpcode.SEND, sendFlags: SIGNALED });
    expect((await take(b.cq, 2)).map(({ wrId }) => wrId).sort()).toEqual([3, 5]);
  });

  it('checks every value, posts what came before a wrong one, and says how many these are', async () => {
    const b = bench();
    const [qp] = pair(b);
    const { mr } = b;
    const wrong: [SendWr | object, RegExp][] = [
      [5 as never, /^wr must be a work request/],
      [{}, /^wr\.opcode must be/],
      [{ opcode: 11 }, /^wr\.opcode is 11/],
      [{ opcode: 2, wrId: -1 }, /^wr\.wrId must be/],
      [{ opcode: 2, wrId: 2n ** 64n }, /^wr\.wrId must be/],
      [{ opcode: 2, wrId: '1' }, /^wr\.wrId must be/],
      [{ opcode: 2, sgList: {} }, /^wr\.sgList must be an array/],
      [{ opcode: 2, sgList: [5] }, /^wr\.sgList\[0\] must be/],
      [{ opcode: 2, sgList: [{ mr: 'none' }] }, /^wr\.sgList\[0\]\.mr must be a MemoryRegion/],
      [{ opcode: 2, sgList: [{ mr, offset: -1 }] }, /^wr\.sgList\[0\]\.offset/],
      [{ opcode: 2, sgList: [{ mr, length: 2 ** 32 }] }, /^wr\.sgList\[0\]\.length/],
      [{ opcode: 2, sgList: Array(50).fill({ mr }) }, /^wr\.sgList has more elements/],
      [{ opcode: 3 }, /^wr\.immData/],
      [{ opcode: 0, rkey: 1 }, /^wr\.remoteAddr/],
      [{ opcode: 0, remoteAddr: 0n }, /^wr\.rkey/],
      [{ opcode: 5, remoteAddr: 0n, rkey: 1, swap: 1n }, /^wr\.compare/],
      [{ opcode: 7 }, /^wr\.invalidateRkey/],
      // These are found by the addon.
      [{ opcode: 2, sgList: [{ mr, offset: 65530, length: 7 }] }, /^wr\.sgList\[0\] reaches past/],
      [{ opcode: 2, sgList: Array(9).fill({ mr, length: 1 }) }, /^wr\.sgList has more elements/],
    ];
    for (const [wr, message] of wrong) {
      const alone = thrown(() => {
        qp.postSend(wr as SendWr);
      });
      expect(alone.message).toMatch(message);
      expect(alone).toMatchObject({ posted: 0 });
      expect(b.cq.poll()).toEqual([]);

      const write = (wrId: number): SendWr => ({
        ...{ wrId, opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, sgList: [{ mr, length: 8 }] },
        ...{ remoteAddr: mr.addr + 100n, rkey: mr.rkey },
      });
      const third = thrown(() => {
        qp.postSend([write(1), write(2), wr as SendWr, write(3)]);
      });
      expect(third.message).toMatch(new RegExp(message.source.replace('^wr', '^wr\\[2\\]')));
      expect(third).toMatchObject({ posted: 2 });
      expect((await take(b.cq, 2)).map(({ wrId }) => wrId)).toEqual([1, 2]);
    }
    const recv = thrown(() => {
      qp.postRecv([{ wrId: 1 }, { wrId: -1 }]);
    });
    expect(recv).toMatchObject({ name: 'RangeError', posted: 1 });
  });

  it("posts what came before a request whose getter throws, and leaves the program's error as it is", async () => {
    const b = bench();
    const [one, two] = pair(b);
    two.postRecv([{ wrId: 1 }, { wrId: 2 }]);
    const mine: Error = Object.freeze(new Error('mine'));
    const bad = {
      get opcode(): never {
        throw mine;
      },
    };
    expect(
      thrown(() => {
        one.postSend([{ opcode: WrOpcode.SEND }, bad]);
      }),
    ).toBe(mine);
    expect((await take(b.cq, 1)).map(({ wrId }) => wrId)).toEqual([1]);
  });

  it('refuses closed regions and regions of another device', () => {
    const b = bench();
    const [qp] = pair(b);
    const closed = b.pd.allocMr(64, 1);
    closed.close();
    const foreign = bench().mr;
    expect(() => {
      qp.postRecv({ sgList: [{ mr: closed }] });
    }).toThrow(expect.objectContaining({ code: 'ERR_VERBS_CLOSED' }));
    expect(() => {
      qp.postRecv({ sgList: [{ mr: foreign }] });
    }).toThrow(/wr\.sgList\[0\]\.mr is not of the device/);
  });

  it('says when a queue is full, and takes more after completions', async () => {
    const b = bench();
    const qp = createQp(b);
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
    const { maxRecvWr } = qp.cap;
    const recv = Array.from({ length: maxRecvWr + 1 }, (_, wrId) => ({ wrId }));
    expect(() => {
      qp.postRecv(recv);
    }).toThrow(expect.objectContaining({ code: 'ENOMEM', posted: maxRecvWr }));
    qp.modify({ qpState: QpState.ERR });
    expect((await take(b.cq, maxRecvWr)).map(({ wrId }) => wrId)).toEqual(recv.slice(0, -1).map(({ wrId }) => wrId));
    qp.postRecv({ wrId: 99 });
    expect(await take(b.cq, 1)).toMatchObject([{ wrId: 99 }]);
  });

  it('gives the errno of a queue pair in the wrong state', () => {
    const qp = createQp(bench());
    const post = () => {
      qp.postSend({ opcode: WrOpcode.SEND });
    };
    expect(post).toThrow(VerbsError);
    expect(post).toThrow(/EINVAL.*ibv_post_send.*RTS/);
    expect(QpType.RC).toBe(qp.qpType);
  });

  it('survives getters that post, close and change', () => {
    const b = bench();
    const [one, two] = pair(b);
    two.postRecv({ wrId: 1 });
    const nested = {
      opcode: WrOpcode.SEND,
      get sgList() {
        one.postSend({ opcode: WrOpcode.SEND, wrId: 1 });
        return [{ mr: b.mr, length: 4 }];
      },
    };
    one.postSend(nested);
    const closing = {
      opcode: WrOpcode.SEND,
      get wrId() {
        one.close();
        return 1;
      },
    };
    expect(() => {
      one.postSend(closing);
    }).toThrow(/closed/);
    const region = b.pd.allocMr(64, 1);
    const shrinking = {
      sgList: [
        {
          mr: region,
          get length() {
            region.close();
            return 8;
          },
        },
      ],
    };
    expect(() => {
      two.postRecv(shrinking);
    }).toThrow(/closed/);
  });
});
