import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  AccessFlags,
  CreateCqFlags,
  Mtu,
  PlacementType,
  QpType,
  SelectivityLevel,
  SendBatch,
  SendFlags,
  SendOpsFlags,
  VerbsError,
  WcExFlags,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../src/index.js';
import { ALL_ACCESS, bench, pair, QKEY, take } from '../helpers/devices.js';

const { SIGNALED, INLINE } = SendFlags;
const CAP = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 4, maxRecvSge: 4, maxInlineData: 64 };

/** Connected queue pairs; the first posts by the builders. */
function extendedPair(
  b: ReturnType<typeof bench>,
  sendOpsFlags: number,
  qpType: QpType = QpType.RC,
  access: AccessFlags = ALL_ACCESS,
) {
  const base = { qpType, sendCq: b.cq, recvCq: b.cq, cap: CAP };
  const [one, two] = [b.pd.createQp({ ...base, sendOpsFlags }), b.pd.createQp(base)];
  const gid = b.ctx.defaultGid().gid;
  if (qpType === QpType.UD) {
    for (const qp of [one, two]) qp.activate({ qkey: QKEY });
    return { one, two, gid };
  }
  one.connect({ remote: { qpNum: two.qpNum, gid }, pathMtu: Mtu.MTU_1024 });
  two.connect({ remote: { qpNum: one.qpNum, gid }, pathMtu: Mtu.MTU_1024, access });
  return { one, two, gid };
}

describe('the extended post calls', () => {
  it('name the request without a builder, and take ATOMIC_WRITE from the memory of the region', async () => {
    const b = bench();
    const { one } = extendedPair(b, SendOpsFlags.RDMA_WRITE | SendOpsFlags.ATOMIC_WRITE);
    const mr = b.pd.allocMr(64, AccessFlags.LOCAL_WRITE, { iova: 0x1000n });
    mr.bytes.set(Buffer.from('8 bytes.'), 16);
    const write = { opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr, length: 8 }], remote: b.mr.remote() };
    const send = { opcode: WrOpcode.SEND };
    const wrong = { message: expect.stringContaining('of wr[2]') as string, code: 'EOPNOTSUPP', posted: 0 };
    expect(() => {
      one.postSend([write, write, send, write]);
    }).toThrow(expect.objectContaining(wrong));
    await one.send({ opcode: WrOpcode.ATOMIC_WRITE, sgList: [{ mr, offset: 16, length: 8 }], remote: b.mr.remote() });
    expect(Buffer.from(b.mr.buffer, 0, 8).toString()).toBe('8 bytes.');
    expect(() => {
      const sgList = [{ mr: b.pd.allocNullMr(), length: 8 }];
      one.postSend({ opcode: WrOpcode.ATOMIC_WRITE, sgList, remote: b.mr.remote() });
    }).toThrow(/has no memory of this process/);
  });

  it('build every operation', async () => {
    const b = bench();
    const ops =
      SendOpsFlags.SEND |
      SendOpsFlags.SEND_WITH_IMM |
      SendOpsFlags.RDMA_WRITE |
      SendOpsFlags.RDMA_WRITE_WITH_IMM |
      SendOpsFlags.RDMA_READ |
      SendOpsFlags.ATOMIC_CMP_AND_SWP |
      SendOpsFlags.ATOMIC_FETCH_AND_ADD |
      SendOpsFlags.ATOMIC_WRITE;
    const { one, two } = extendedPair(b, ops);
    const counter = new BigUint64Array(b.mr.buffer, 32768, 1);
    counter[0] = 5n;
    const remote = { remoteAddr: b.mr.addr + 32768n, rkey: b.mr.rkey };
    const result = [{ mr: b.mr, offset: 40000, length: 8 }];
    two.postRecv([{ wrId: 1 }, { wrId: 2, sgList: [{ mr: b.mr, offset: 100, length: 64 }] }, { wrId: 3 }]);
    b.mr.bytes.set(Buffer.from('abcdefgh'));
    const element = { mr: b.mr, length: 8 };
    one.postSend([
      { wrId: 11, opcode: WrOpcode.SEND, sendFlags: SIGNALED },
      {
        wrId: 12,
        opcode: WrOpcode.SEND_WITH_IMM,
        sendFlags: SIGNALED | INLINE,
        immData: 7,
        sgList: [element, element],
      },
      {
        wrId: 13,
        opcode: WrOpcode.RDMA_WRITE,
        sendFlags: SIGNALED,
        remoteAddr: b.mr.addr + 200n,
        rkey: b.mr.rkey,
        sgList: [element],
      },
      {
        wrId: 14,
        opcode: WrOpcode.RDMA_WRITE_WITH_IMM,
        sendFlags: SIGNALED,
        immData: 9,
        remoteAddr: b.mr.addr,
        rkey: b.mr.rkey,
      },
      { wrId: 15, opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, sendFlags: SIGNALED, ...remote, add: 2, sgList: result },
      {
        wrId: 16,
        opcode: WrOpcode.ATOMIC_CMP_AND_SWP,
        sendFlags: SIGNALED,
        ...remote,
        compare: 7,
        swap: 70,
        sgList: result,
      },
      {
        wrId: 17,
        opcode: WrOpcode.RDMA_READ,
        sendFlags: SIGNALED,
        remoteAddr: b.mr.addr + 200n,
        rkey: b.mr.rkey,
        sgList: [{ mr: b.mr, offset: 300, length: 8 }],
      },
    ]);
    const list = await take(b.cq, 10);
    expect(list.filter(({ ok }) => !ok)).toEqual([]);
    expect(list.map(({ wrId }) => Number(wrId)).sort((x, y) => x - y)).toEqual([1, 2, 3, 11, 12, 13, 14, 15, 16, 17]);
    expect(Buffer.from(b.mr.bytes.subarray(100, 116)).toString()).toBe('abcdefghabcdefgh');
    expect(Buffer.from(b.mr.bytes.subarray(300, 308)).toString()).toBe('abcdefgh');
    expect(counter[0]).toBe(70n);
    one.postSend({ opcode: WrOpcode.ATOMIC_WRITE, sendFlags: SIGNALED, ...remote, sgList: [element] });
    expect((await take(b.cq, 1))[0]).toMatchObject({ ok: true });
    expect(Buffer.from(b.mr.bytes.subarray(32768, 32776)).toString()).toBe('abcdefgh');
  });

  it('send datagrams', async () => {
    const b = bench();
    const { one, two, gid } = extendedPair(b, SendOpsFlags.SEND, QpType.UD);
    two.postRecv({ wrId: 1, sgList: [{ mr: b.mr, offset: 1000, length: 100 }] });
    const ah = b.pd.createAh({ portNum: 1, grh: { dgid: gid } });
    b.mr.bytes.set(Buffer.from('datagram'));
    const to = { ah, remoteQpn: two.qpNum, remoteQkey: QKEY };
    one.postSend({ opcode: WrOpcode.SEND, sendFlags: SIGNALED, ...to, sgList: [{ mr: b.mr, length: 8 }] });
    expect((await take(b.cq, 2)).every(({ ok }) => ok)).toBe(true);
    expect(Buffer.from(b.mr.bytes.subarray(1040, 1048)).toString()).toBe('datagram');
  });

  it('post all or nothing, and say that an operation was not asked for', () => {
    const b = bench();
    const { one } = extendedPair(b, SendOpsFlags.SEND);
    const write = { opcode: WrOpcode.RDMA_WRITE, remoteAddr: 0, rkey: 0 } as const;
    let error: unknown;
    try {
      one.postSend([{ opcode: WrOpcode.SEND }, write]);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(VerbsError);
    expect(error).toMatchObject({ posted: 0, code: 'EOPNOTSUPP' });
    expect(String(error)).toContain('sendOpsFlags');
    expect(b.cq.poll()).toEqual([]);
  });

  it('refuse an atomic write that is not 8 bytes', () => {
    const b = bench();
    const { one } = extendedPair(b, SendOpsFlags.ATOMIC_WRITE);
    const remote = { remoteAddr: 0, rkey: 0 };
    expect(() => {
      one.postSend({ opcode: WrOpcode.ATOMIC_WRITE, ...remote, sgList: [{ mr: b.mr, length: 4 }] });
    }).toThrow(/^wr\.sgList must be one element of 8 bytes/);
  });
});

describe('an extended completion queue', () => {
  it('gives the time of a completion', async () => {
    const b = bench();
    const channel = b.ctx.createCompChannel();
    const cq = b.ctx.createCq(16, {
      channel,
      wcFlags: WcExFlags.BYTE_LEN | WcExFlags.QP_NUM | WcExFlags.IMM | WcExFlags.COMPLETION_TIMESTAMP_WALLCLOCK,
    });
    const before = BigInt(Date.now() - 1) * 1_000_000n;
    const [one, two] = pair({ ...b, cq });
    two.postRecv({ wrId: 3, sgList: [{ mr: b.mr, length: 64 }] });
    one.postSend({
      wrId: 4,
      opcode: WrOpcode.SEND_WITH_IMM,
      immData: 0xabcd,
      sendFlags: SIGNALED,
      sgList: [{ mr: b.mr, length: 32 }],
    });
    const list = await take(cq, 2);
    const after = BigInt(Date.now() + 1) * 1_000_000n;
    const received = list.find(({ opcode }) => opcode === WcOpcode.RECV);
    expect(received).toMatchObject({ wrId: 3, ok: true, byteLen: 32, immData: 0xabcd, qpNum: two.qpNum });
    for (const { completionWallclockNs: at } of list) expect(at >= before && at <= after).toBe(true);
  });

  it('has timestamps of the clock that can be asked', async () => {
    const b = bench();
    const cq = b.ctx.createCq(16, { channel: b.channel, wcFlags: WcExFlags.COMPLETION_TIMESTAMP });
    const [one, two] = pair({ ...b, cq });
    const before = b.ctx.queryRtValues().rawClock;
    two.postRecv({});
    one.postSend({ opcode: WrOpcode.SEND, sendFlags: SIGNALED });
    const list = await take(cq, 2);
    const after = b.ctx.queryRtValues().rawClock;
    for (const { completionTimestamp: at } of list) expect(at >= before && at <= after).toBe(true);
  });

  it('takes flags and refuses fields that the device does not have', () => {
    const b = bench();
    const cq = b.ctx.createCq(4, { flags: CreateCqFlags.SINGLE_THREADED | CreateCqFlags.IGNORE_OVERRUN });
    expect(cq.poll()).toEqual([]);
    expect(() => b.ctx.createCq(4, { wcFlags: (WcExFlags.COMPLETION_TIMESTAMP_WALLCLOCK << 1) as WcExFlags })).toThrow(
      expect.objectContaining({ syscall: 'ibv_create_cq_ex' }),
    );
  });
});

describe('a completion queue', () => {
  it('changes its size with completions in it', () => {
    const b = bench();
    const cq = b.ctx.createCq(4);
    cq.resize(100);
    expect(cq.cqe).toBeGreaterThanOrEqual(100);
    expect(() => {
      cq.resize(0x7fffffff);
    }).toThrow(expect.objectContaining({ syscall: 'ibv_resize_cq' }));
  });

  it('moderates its events, or says that the device cannot', () => {
    const b = bench();
    const { maxCqCount } = b.ctx.queryDeviceEx().cqModCaps;
    const modify = () => {
      b.cq.modify({ cqCount: 2, cqPeriod: 100 });
    };
    if (maxCqCount > 0) expect(modify).not.toThrow();
    else expect(modify).toThrow(/EOPNOTSUPP/);
    expect(() => {
      b.cq.modify({ cqCount: 70000, cqPeriod: 0 });
    }).toThrow(/^moderation\.cqCount/);
  });
});

it('the layouts of the extended structures are those of the installed header', () => {
  // The numbers of src/create-enums.ts against infiniband/verbs.h.
  const header = readFileSync('/usr/include/infiniband/verbs.h', 'utf8');
  const shifts = Object.fromEntries(
    [...header.matchAll(/\bIBV_(WC_EX_WITH|QP_EX_WITH)_(\w+)\s*=\s*1 << (\d+)/g)].map(([, kind, name, shift]) => [
      `${kind}_${name}`,
      1 << Number(shift),
    ]),
  );
  for (const [name, value] of Object.entries(WcExFlags)) expect(shifts[`WC_EX_WITH_${name}`]).toBe(value);
  // Headers before release 45 lack this one.
  const ops = Object.entries(SendOpsFlags).filter(([name]) => name !== 'FLUSH' || 'QP_EX_WITH_FLUSH' in shifts);
  for (const [name, value] of ops) expect(shifts[`QP_EX_WITH_${name}`]).toBe(value);
});

describe('a flush', () => {
  const ops = SendOpsFlags.RDMA_WRITE | SendOpsFlags.FLUSH;
  const { GLOBAL, PERSISTENT } = PlacementType;
  const FLUSHED = ALL_ACCESS | AccessFlags.FLUSH_GLOBAL | AccessFlags.FLUSH_PERSISTENT;

  it('follows a write, and says when that has arrived', async () => {
    const b = bench();
    const { one } = extendedPair(b, ops, QpType.RC, FLUSHED);
    const mr = b.pd.allocMr(4096, FLUSHED);
    b.mr.bytes.set(Buffer.from('to stay'));
    const remote = mr.remote();
    one.postSend([
      { opcode: WrOpcode.RDMA_WRITE, remote, remoteOffset: 100, sgList: [{ mr: b.mr, length: 7 }] },
      { wrId: 2, opcode: WrOpcode.FLUSH, sendFlags: SIGNALED, type: GLOBAL | PERSISTENT, remote, length: 4096 },
      { wrId: 3, opcode: WrOpcode.FLUSH, sendFlags: SIGNALED, type: PERSISTENT, level: SelectivityLevel.MR, remote },
    ]);
    const done = await take(b.cq, 2);
    expect(done.map(({ wrId, status, opcode }) => [wrId, status, opcode])).toEqual([
      [2, WcStatus.SUCCESS, WcOpcode.FLUSH],
      [3, WcStatus.SUCCESS, WcOpcode.FLUSH],
    ]);
    expect(Buffer.from(mr.bytes.subarray(100, 107)).toString()).toBe('to stay');
  });

  it('goes in a batch', async () => {
    const b = bench();
    const { one } = extendedPair(b, ops, QpType.RC, FLUSHED);
    const mr = b.pd.allocMr(4096, ALL_ACCESS | AccessFlags.FLUSH_GLOBAL);
    const batch = new SendBatch(2);
    for (const slot of [0, 1]) {
      const { addr: remoteAddr, rkey } = mr;
      batch.set(slot, { opcode: WrOpcode.FLUSH, sendFlags: SIGNALED, type: GLOBAL, remoteAddr, rkey, length: 64 });
    }
    batch.setRemote(1, mr.addr + 4096n);
    one.postSendBatch(batch);
    expect((await take(b.cq, 2)).map(({ statusName }) => statusName)).toEqual(['SUCCESS', 'REM_ACCESS_ERR']);
  });

  it('needs the right of the region and of the queue pair', async () => {
    const b = bench();
    const { one } = extendedPair(b, ops, QpType.RC, FLUSHED);
    const mr = b.pd.allocMr(4096, ALL_ACCESS | AccessFlags.FLUSH_GLOBAL);
    const remote = mr.remote();
    one.postSend({ opcode: WrOpcode.FLUSH, sendFlags: SIGNALED, type: PERSISTENT, remote, length: 8 });
    expect((await take(b.cq, 1))[0]?.statusName).toBe('REM_ACCESS_ERR');
    const { one: other } = extendedPair(b, ops);
    other.postSend({ opcode: WrOpcode.FLUSH, sendFlags: SIGNALED, type: GLOBAL, remote, length: 8 });
    expect((await take(b.cq, 1))[0]?.statusName).toBe('REM_INV_REQ_ERR');
  });

  it('is refused by a queue pair that was not created for it, and with wrong fields', () => {
    const b = bench();
    const flush = { opcode: WrOpcode.FLUSH, type: GLOBAL, remoteAddr: b.mr.addr, rkey: b.mr.rkey } as const;
    const [plain] = pair(b);
    const { one } = extendedPair(b, SendOpsFlags.RDMA_WRITE);
    for (const qp of [plain, one]) {
      expect(() => {
        qp.postSend(flush);
      }).toThrow(/^EOPNOTSUPP.*ibv_post_send.*sendOpsFlags/);
    }
    const { one: able } = extendedPair(b, ops, QpType.RC, FLUSHED);
    for (const [wrong, message] of [
      [{ type: undefined }, /^wr\.type must be/],
      [{ type: 256 }, /^wr\.type must be/],
      [{ level: -1 }, /^wr\.level must be/],
      [{ length: 2 ** 32 }, /^wr\.length must be/],
    ] as const) {
      expect(() => {
        able.postSend({ ...flush, ...wrong } as never);
      }).toThrow(message);
    }
    for (const wrong of [{ type: 0 }, { type: 8 }, { level: 2 }]) {
      expect(() => {
        able.postSend({ ...flush, ...wrong });
      }).toThrow(/^EINVAL/);
    }
  });
});
