import { describe, expect, it } from 'vitest';
import {
  CompletionError,
  CompletionQueue,
  Context,
  ProtectionDomain,
  QpType,
  QueuePair,
  SendBatch,
  SendFlags,
  WcStatus,
  WrOpcode,
} from '../../src/index.js';
import { bench, createQp, datagram, pair, QKEY } from '../helpers/devices.js';

const text = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
};

describe('postSend says why', () => {
  it('the queue pair cannot send yet', () => {
    const b = bench();
    const qp = createQp(b);
    const post = () => {
      qp.postSend({ opcode: WrOpcode.SEND });
    };
    expect(text(post)).toContain('the queue pair is in RESET and sends from RTS on: connect() brings it there');
    qp.init();
    expect(text(post)).toContain('the queue pair is in INIT');
    const ud = createQp(b, QpType.UD);
    const ah = b.pd.createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } });
    expect(
      text(() => {
        ud.postSend({ opcode: WrOpcode.SEND, ah, remoteQpn: 1, remoteQkey: QKEY });
      }),
    ).toContain('activate() brings it there');
  });

  it('inline data is too long, in an array and in a batch, too', () => {
    const b = bench();
    const [one] = pair(b);
    const { maxInlineData } = one.cap;
    const wr = (length: number, sendFlags: SendFlags = SendFlags.INLINE) =>
      ({ opcode: WrOpcode.SEND, sendFlags, sgList: [{ mr: b.mr, length }] }) as const;
    const long = wr(maxInlineData + 1);
    const said = `the message has ${maxInlineData + 1} bytes and SendFlags.INLINE, and the queue pair takes at most ${maxInlineData}`;
    const one_ = text(() => {
      one.postSend(long);
    });
    expect(one_).toContain(said);
    expect(one_).not.toContain('must be in RTS');
    const second = text(() => {
      one.postSend([wr(8), { ...long, sgList: [...long.sgList, ...long.sgList].slice(0, 1) }]);
    });
    expect(second).toContain('of wr[1]');
    expect(second).toContain(said);
    const batch = new SendBatch(4);
    batch.set(2, wr(8));
    batch.set(3, long);
    const third = text(() => {
      one.postSendBatch(batch, 2);
    });
    expect(third).toContain('of batch[3]');
    expect(third).toContain(said);
    expect(
      text(() => {
        one.postSend({ ...long, opcode: WrOpcode.RDMA_READ, remoteAddr: 0, rkey: 0 });
      }),
    ).toContain('SendFlags.INLINE does not go with RDMA_READ');
  });

  it('room for the answer of an atomic operation is missing', () => {
    const b = bench();
    const [one] = pair(b);
    const wr = { opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, add: 1, remoteAddr: 0, rkey: 0 } as const;
    expect(
      text(() => {
        one.postSend({ ...wr, sgList: [{ mr: b.mr, length: 4 }] });
      }),
    ).toContain('give one element of 8 bytes');
  });

  it('a UD queue pair writes to nobody', async () => {
    const b = bench();
    const ah = b.pd.createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } });
    const wr = { opcode: WrOpcode.RDMA_WRITE, remoteAddr: 0, rkey: 0, ah, remoteQpn: 1, remoteQkey: 1 };
    const error = await datagram(b)
      .send(wr as never)
      .catch((reason: unknown) => reason as Error);
    expect((error as Error).message).toContain('a queue pair of UD has no RDMA_WRITE: it carries SEND, SEND_WITH_IMM');
  });

  it('a receive request is not taken', () => {
    const b = bench();
    expect(
      text(() => {
        createQp(b).postRecv({});
      }),
    ).toContain('is in RESET and takes receive requests from INIT on: init() first');
    const srq = b.pd.createSrq({ maxWr: 4, maxSge: 1 });
    const cap = { maxSendWr: 1, maxRecvWr: 1 };
    const qp = b.pd.createQp({ qpType: QpType.RC, sendCq: b.cq, recvCq: b.cq, srq, cap });
    qp.init();
    expect(
      text(() => {
        qp.postRecv({});
      }),
    ).toContain('takes its receive requests from its srq');
  });
});

describe('a work request that is written wrong', () => {
  const b = () => {
    const made = bench();
    const [one] = pair(made);
    return { one, mr: made.mr, pd: made.pd };
  };

  it.each(['SEND', 'IBV_WR_SEND', 'send'])('opcode: %o', (opcode) => {
    expect(
      text(() => {
        b().one.postSend({ opcode } as never);
      }),
    ).toBe(`wr.opcode must be WrOpcode.SEND; received '${opcode}'`);
  });

  it('other enumerations as text', () => {
    const { pd, one } = b();
    expect(text(() => pd.allocMr(64, 'LOCAL_WRITE' as never))).toContain('access must be AccessFlags.LOCAL_WRITE');
    expect(
      text(() => {
        one.postSend({ opcode: WrOpcode.SEND, sendFlags: 'INLINE' as never });
      }),
    ).toContain('SendFlags.INLINE');
    expect(
      text(() => {
        one.modify({ qpState: 'RTS' } as never);
      }),
    ).toContain('attr.qpState must be QpState.RTS');
  });

  it('a WRITE without remote', () => {
    const { one, mr } = b();
    expect(
      text(() => {
        one.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr }] } as never);
      }),
    ).toContain(
      'wr.remote must be a region of the peer (or remoteAddr and rkey), as RDMA_WRITE needs one: `remote: peer`',
    );
  });

  it.each([['sglist'], ['flags'], ['imm_data']])('%s, which no request has', async (name) => {
    const { one } = b();
    const wr = { opcode: WrOpcode.SEND, [name]: [] } as never;
    expect(
      text(() => {
        one.postSend(wr);
      }),
    ).toContain(`wr.${name} is not known here; known are opcode, wrId, sgList`);
    expect(
      text(() => {
        one.postSend([{ opcode: WrOpcode.SEND }, wr] as never);
      }),
    ).toContain(`wr[1].${name} is not known here`);
    await expect(one.send(wr)).rejects.toThrow(`wr.${name} is not known here`);
    expect(
      text(() => {
        one.postRecv({ [name]: [] });
      }),
    ).toContain(`wr.${name} is not known here; known are wrId, sgList`);
  });

  it.each([['len'], ['ofset']])('%s, which no element has: other bytes would move', (name) => {
    const { mr, one } = b();
    const sgList = [{ mr, [name]: 5 }] as never;
    const refused = `wr.sgList[0].${name} is not known here; known are mr, offset, length`;
    expect(
      text(() => {
        one.postSend({ opcode: WrOpcode.SEND, sgList });
      }),
    ).toContain(refused);
    expect(
      text(() => {
        one.postRecv({ sgList });
      }),
    ).toContain(refused);
  });

  it('a region of the peer twice', () => {
    const { mr, one } = b();
    expect(
      text(() => {
        one.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr }], remote: mr.remote(), remoteAddr: 1n } as never);
      }),
    ).toContain('wr.remote and remoteAddr exclude each other: give one');
  });

  it('what a class inherits is no field of the request', () => {
    const { one } = b();
    class Request {
      opcode = WrOpcode.SEND;
    }
    Object.assign(Request.prototype, { sglist: 'inherited' });
    one.postSend(new Request());
  });
});

describe('a failed completion', () => {
  it('tells the operation, the queue pair and what to look at, as the error of a promise', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const wr = { opcode: WrOpcode.RDMA_WRITE, wrId: 7n, sgList: [{ mr: b.mr, length: 8 }], remoteAddr: 0n, rkey: 1 };
    const error = await one.send(wr as never).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CompletionError);
    const { message, operation, wc } = error as CompletionError;
    expect(operation).toBe('RDMA_WRITE');
    expect(message).toContain(`of RDMA_WRITE (wrId 7) on queue pair 0x${one.qpNum.toString(16)}`);
    expect(message).toContain('RDMA_WRITE needs AccessFlags.REMOTE_WRITE in `access` of the queue pair there');
    expect(wc.statusHint).toContain("the peer's memory");
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      code: 'WC_REM_ACCESS_ERR',
      operation: 'RDMA_WRITE',
      wc: { wrId: '7', status: 'REM_ACCESS_ERR', qpNum: one.qpNum, vendorErr: wc.vendorErr },
    });
    const flushed = await two.recv({ sgList: [{ mr: b.mr, length: 8 }] }).catch((reason: unknown) => reason);
    expect((flushed as CompletionError).operation).toBe('RECV');
    expect((flushed as CompletionError).wc.status).toBe(WcStatus.WR_FLUSH_ERR);
  });

  it('is JSON, as one that succeeded', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const received = two.recv({ wrId: 2n ** 60n, sgList: [{ mr: b.mr, length: 8 }] });
    const wr = { opcode: WrOpcode.SEND_WITH_IMM, immData: 9, wrId: 3, sgList: [{ mr: b.mr, length: 8 }] } as const;
    const sent = await one.send(wr);
    expect(JSON.parse(JSON.stringify([sent, await received]))).toEqual([
      { wrId: 3, status: 'SUCCESS', opcode: 'SEND', byteLen: expect.any(Number) as number, qpNum: one.qpNum },
      {
        wrId: '1152921504606846976',
        status: 'SUCCESS',
        opcode: 'RECV',
        byteLen: 8,
        qpNum: two.qpNum,
        wcFlags: 2,
        immData: 9,
      },
    ]);
    expect(sent.statusHint).toBeUndefined();
  });
});

it('objects that a program makes itself', () => {
  const making = (Class: unknown) => text(() => new (Class as new () => unknown)());
  expect(making(QueuePair)).toContain('a QueuePair is made by pd.createQp(attr)');
  expect(making(CompletionQueue)).toContain('a CompletionQueue is made by ctx.createCq(cqe)');
  expect(making(Context)).toContain('a Context is made by openDevice()');
  expect(making(ProtectionDomain)).toContain('a ProtectionDomain is made by ctx.allocPd()');
});
