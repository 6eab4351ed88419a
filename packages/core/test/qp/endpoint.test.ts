import { describe, expect, it } from 'vitest';
import { AccessFlags, GidType, type QpEndpoint, QpState, QpType, WrOpcode } from '../../src/index.js';
import { ALL_ACCESS, type Bench, bench, createQp, QKEY, take } from '../helpers/devices.js';

const state = (qp: ReturnType<typeof createQp>) => qp.query().attr.qpState;
const overJson = (endpoint: QpEndpoint) => JSON.parse(JSON.stringify(endpoint)) as QpEndpoint;

async function works(b: Bench, one: ReturnType<typeof createQp>, two: ReturnType<typeof createQp>): Promise<void> {
  two.postRecv({ wrId: 1, sgList: [{ mr: b.mr, length: 8 }] });
  await one.send({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: 3 }] });
  expect(await take(b.cq, 1)).toMatchObject([{ wrId: 1, byteLen: 3 }]);
}

describe('endpoints', () => {
  it('connect two queue pairs in two lines, over JSON', async () => {
    const b = bench();
    const [one, two] = [createQp(b), createQp(b)];
    const [here, there] = [overJson(one.endpoint()), overJson(two.endpoint())];
    expect(here).toEqual({
      qpNum: one.qpNum,
      psn: expect.any(Number) as number,
      gid: b.ctx.defaultGid().gid,
      mtu: b.ctx.queryPort(1).activeMtu,
      rdAtomic: Math.min(16, b.ctx.queryDevice().maxQpRdAtom),
    });
    expect(here.psn).not.toBe(there.psn);
    expect(one.endpoint().psn).toBe(here.psn);
    // A later version may tell more.
    one.connect({ ...there, colour: 'green' } as QpEndpoint);
    two.connect(here, { access: AccessFlags.LOCAL_WRITE, timeout: 10 });
    const { attr } = one.query();
    expect(attr).toMatchObject({ qpState: QpState.RTS, pathMtu: here.mtu, sqPsn: here.psn, rqPsn: there.psn });
    expect(attr).toMatchObject({ maxRdAtomic: there.rdAtomic, maxDestRdAtomic: here.rdAtomic });
    expect(two.query().attr).toMatchObject({ qpAccessFlags: AccessFlags.LOCAL_WRITE, timeout: 10 });
    await works(b, one, two);
    await works(b, two, one);
  });

  it('take the smaller MTU, and as many reads as the peer serves', () => {
    const b = bench();
    const [one, two] = [createQp(b), createQp(b)];
    one.connect({ ...two.endpoint(), mtu: 2, rdAtomic: 3 });
    expect(one.query().attr).toMatchObject({ pathMtu: 2, maxRdAtomic: 3 });
    const { gid, mtu, qpNum, psn } = two.endpoint();
    createQp(b).connect({ qpNum, psn, mtu, gid: gid ?? '' } as QpEndpoint);
  });

  it('have another PSN after a reset', () => {
    const qp = createQp(bench());
    const psns = Array.from({ length: 3 }, () => {
      const { psn } = qp.endpoint();
      qp.modify({ qpState: QpState.RESET });
      return psn;
    });
    expect(new Set(psns).size).toBeGreaterThan(1);
  });

  it('take undefined for left out', () => {
    const b = bench();
    const [one, two] = [createQp(b), createQp(b)];
    const there = two.endpoint();
    one.connect(there, { pathMtu: undefined, maxRdAtomic: undefined, portNum: undefined } as never);
    expect(one.query().attr).toMatchObject({ pathMtu: there.mtu, maxRdAtomic: there.rdAtomic, portNum: 1 });
    for (const name of ['psn', 'remote'])
      expect(() => {
        createQp(b).connect(there, { [name]: 5 });
      }).toThrow(new RegExp(`^options\\.${name} is not known here`));
  });

  it('of a peer are checked by name', () => {
    const b = bench();
    const [one, two] = [createQp(b), createQp(b)];
    const there = two.endpoint();
    const connect = (change: object) => () => {
      one.connect({ ...there, ...change });
    };
    expect(() => {
      one.connect(undefined as never);
    }).toThrow(/^options must be an object/);
    expect(connect({ qpNum: 1 << 24 })).toThrow(/^peer\.qpNum/);
    expect(connect({ psn: 'x' })).toThrow(/^peer\.psn/);
    expect(connect({ gid: 5 })).toThrow(/^peer\.gid/);
    expect(connect({ gid: '::zz' })).toThrow(/^peer\.gid/);
    expect(connect({ mtu: 0 })).toThrow(/^peer\.mtu/);
    expect(connect({ rdAtomic: 256 })).toThrow(/^peer\.rdAtomic/);
    expect(() => {
      one.connect(there, { portnum: 1 } as never);
    }).toThrow(/portnum/);
    expect(() => one.endpoint({ portNum: 9 })).toThrow(/EINVAL.*port 9/);
    expect(() => one.endpoint({ gid: 1 } as never)).toThrow(/gid/);
    expect(state(one)).toBe(QpState.RESET);
  });
});

describe('init', () => {
  it('lets receive requests be posted before the peer can send', async () => {
    const b = bench();
    const [one, two] = [createQp(b), createQp(b)];
    two.init({ access: ALL_ACCESS });
    expect(state(two)).toBe(QpState.INIT);
    two.postRecv({ wrId: 9, sgList: [{ mr: b.mr, length: 8 }] });
    two.connect(one.endpoint());
    expect(two.query().attr.qpAccessFlags).toBe(ALL_ACCESS);
    one.connect(two.endpoint());
    await one.send({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: 3 }] });
    expect(await take(b.cq, 1)).toMatchObject([{ wrId: 9 }]);
  });

  it('leaves the rights to connect, where that has some', () => {
    const b = bench();
    const [one, two] = [createQp(b), createQp(b)];
    one.init();
    one.connect(two.endpoint(), { access: AccessFlags.REMOTE_READ });
    expect(one.query().attr.qpAccessFlags).toBe(AccessFlags.REMOTE_READ);
  });

  it('is for UD, too', () => {
    const b = bench();
    const qp = createQp(b, QpType.UD);
    expect(() => {
      qp.init();
    }).toThrow(/^options\.qkey/);
    expect(() => {
      qp.init({ qkey: QKEY, access: AccessFlags.REMOTE_READ });
    }).toThrow('options.access is not known here; known are portNum, pkeyIndex, qkey');
    expect(() => {
      createQp(b).init({ qkey: QKEY });
    }).toThrow('options.qkey is not known here; known are portNum, pkeyIndex, access');
    qp.init({ qkey: QKEY });
    qp.postRecv({ sgList: [{ mr: b.mr }] });
    qp.activate({ qkey: QKEY });
    expect(state(qp)).toBe(QpState.RTS);
  });

  it('of datagrams takes another key later, and keeps what it was not given anew', () => {
    const b = bench();
    const qp = createQp(b, QpType.UD);
    qp.init({ qkey: QKEY });
    qp.activate({ qkey: QKEY + 1 });
    expect(qp.query().attr).toMatchObject({ qkey: QKEY + 1, portNum: 1, pkeyIndex: 0, qpState: QpState.RTS });
  });
});

describe('defaultGid', () => {
  it('is an IPv4 address of RoCE v2 where there is one, and the default of createAh', () => {
    const b = bench();
    const { gid, index, type, portNum } = b.ctx.defaultGid();
    expect({ gid, type, portNum }).toEqual({ gid: b.ctx.queryGid(1, index), type: GidType.ROCE_V2, portNum: 1 });
    expect(gid).toMatch(/^::ffff:\d+\./);
    expect(b.pd.createAh({ portNum: 1, grh: { dgid: gid } }).attr.grh.sgidIndex).toBe(index);
    expect(() => b.ctx.defaultGid(7)).toThrow(/EINVAL/);
    expect(() => b.pd.createAh({ portNum: 7, grh: { dgid: gid } })).toThrow(/ibv_create_ah/);
  });
});
