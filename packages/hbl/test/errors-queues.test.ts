// Every row of the error tables, in both profiles where they differ.
import { type Context, Mtu, openDevice, type QpAttr, QpState, QpType } from '@verbs/core';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  CqType,
  createCq,
  createEncap,
  type HblQpAttr,
  modifyQp,
  MTU_8192,
  PortCaps,
  QpCaps,
  QpWqTypes,
  queryCq,
  queryPort,
  queryQp,
  readCq,
  setPortEx,
  type SwqGranularity,
} from '../src/index.js';
import {
  codeOf,
  configureDevices,
  connect,
  type End,
  end,
  open,
  type Profile,
  PROFILES,
  ready,
  toInit,
  toRtr,
  toRts,
  udp,
} from './helpers/devices.js';

describe('queue pairs of gaudi', () => {
  let a: End, b: End;
  const modify = (from: End, ...args: [Parameters<typeof modifyQp>[1], Parameters<typeof modifyQp>[2]?]) =>
    codeOf(() => {
      modifyQp(from.qp, ...args);
    });
  beforeEach(() => {
    configureDevices();
    a = end(open('hbl_0', 'default'));
    b = end(open('hbl_1', 'default'));
  });

  it('have a work queue type at INIT', () => {
    const { WRITE, RECV_RDV, READ_RDV, SEND_RDV, READ_RDV_ENDP } = QpWqTypes;
    for (const wqType of [0, 32, RECV_RDV | READ_RDV, SEND_RDV | WRITE, READ_RDV_ENDP | WRITE]) {
      expect(modify(a, toInit(), { wqType })).toBe('EINVAL');
    }
    for (const wqType of [WRITE, RECV_RDV, READ_RDV, SEND_RDV, READ_RDV_ENDP, WRITE | RECV_RDV, WRITE | READ_RDV]) {
      expect(modify(a, toInit(), { wqType })).toBeUndefined();
    }
  });

  it('need a legal change of the state and a port that is there', () => {
    expect(modify(a, toRtr(b))).toBe('EINVAL');
    expect(modify(a, toInit(5))).toBe('EINVAL');
    expect(modify(a, toInit(0))).toBe('EINVAL');
  });

  it('have a number from INIT on, and work queues from RTS on; RESET forgets them', () => {
    expect(queryQp(a.qp)).toMatchObject({ qpNum: 0, sendQueue: undefined, receiveQueueMapped: false });
    modifyQp(a.qp, toInit());
    expect(queryQp(a.qp)).toMatchObject({ qpNum: a.qp.qpNum, sendQueue: undefined });
    expect(queryPort(a.ctx, 1)).toMatchObject({ numAllocatedQps: 2, maxAllocatedQpNum: a.qp.qpNum });
    modifyQp(a.qp, toRtr(b));
    expect(modify(a, { qpState: QpState.RTS })).toBe('EINVAL');
    expect(queryQp(a.qp)).toMatchObject({ sendQueue: undefined, receiveQueueMapped: false });
    modifyQp(a.qp, toRts());
    expect(queryQp(a.qp)).toMatchObject({ qpNum: a.qp.qpNum, receiveQueueMapped: true });
    expect(queryQp(a.qp).sendQueue).toMatchObject({ entries: 64, entrySize: 32 });
    modifyQp(a.qp, { qpState: QpState.RESET });
    expect(queryQp(a.qp)).toMatchObject({ qpNum: 0, sendQueue: undefined, receiveQueueMapped: false });
  });

  it('have a priority of 1 to 3 at RTS', () => {
    modifyQp(a.qp, toInit());
    modifyQp(a.qp, toRtr(b));
    for (const priority of [0, 4]) expect(modify(a, toRts(), { priority })).toBe('EINVAL');
    expect(modify(a, toRts(), { priority: 3 })).toBeUndefined();
  });

  it('need the destination size of rendezvous queue pairs: a power of two, at least four times the own', () => {
    modifyQp(a.qp, toInit(), { wqType: QpWqTypes.RECV_RDV });
    modifyQp(a.qp, toRtr(b));
    for (const destWqSize of [0, 128, 300]) expect(modify(a, toRts(), { destWqSize })).toBe('EINVAL');
    expect(modify(a, toRts(), { destWqSize: 256 })).toBeUndefined();
  });

  it('take encapNum only with the capability ENCAP, and only one that is allocated', () => {
    modifyQp(a.qp, toInit());
    const without = /^hblAttr\.encapNum needs QpCaps\.ENCAP/;
    for (const encapNum of [0, 1]) expect(() => modify(a, toRtr(b), { encapNum })).toThrow(without);
    expect(() => {
      modifyQp(a.qp, toRtr(b), { caps: QpCaps.ENCAP, encapNum: 0 });
    }).toThrow(/EINVAL.*hblAttr\.encapNum is 0, and the port/);
    const { encapNum } = createEncap(a.ctx, udp());
    expect(modify(a, toRtr(b), { caps: QpCaps.ENCAP, encapNum })).toBeUndefined();
    expect(() => modify(a, toRts(), { encapNum: 1 })).toThrow(without);
    expect(modify(a, toRts(), { caps: QpCaps.ENCAP, encapNum })).toBeUndefined();
  });

  it('take the path MTU of 8192 bytes', () => {
    modifyQp(a.qp, toInit());
    const other = { ...toRtr(b), pathMtu: 7 as typeof MTU_8192 };
    expect(() => modify(a, other)).toThrow(/^attr\.pathMtu must be one of .*Mtu\.MTU_4096, MTU_8192; received 7/);
    expect(modify(a, { ...toRtr(b), pathMtu: MTU_8192 })).toBeUndefined();
  });

  it('say which attribute of a step is wrong', () => {
    const refusal = (attr: QpAttr, hblAttr?: HblQpAttr) =>
      expect(() => {
        modifyQp(a.qp, attr, hblAttr);
      });
    refusal(undefined as never).toThrow(/^attr must be an object/);
    refusal(toRtr(b)).toThrow(/EINVAL.* RESET -> RTR: INIT comes before RTR/);
    refusal(toInit(), { wqGranularity: 2 as SwqGranularity }).toThrow(/hblAttr\.wqGranularity 2 is none of/);
    modifyQp(a.qp, toInit());
    const noMtu = toRtr(b);
    delete noMtu.pathMtu;
    refusal(noMtu, { localKey: 1 }).toThrow(/EINVAL.* INIT -> RTR: attr\.pathMtu is missing/);
    modifyQp(a.qp, toRtr(b));
    refusal(toRts(), { priority: 4 }).toThrow(/EINVAL.* RTR -> RTS: hblAttr\.priority is 4; it is 1 to 3/);
  });

  it('and completion queues are of a Habana device', () => {
    const other = end(openDevice('soft0'));
    for (const call of [
      () => {
        modifyQp(other.qp, toInit());
      },
      () => queryCq(other.cq),
      () => readCq(other.cq),
      () => queryQp(other.qp),
    ]) {
      expect(call).toThrow(/EOPNOTSUPP.* on soft0: this is no Habana device/);
    }
    other.ctx.close();
  });
});

describe('queue pairs of gaudi2', () => {
  let a: End, b: End;
  beforeEach(() => {
    configureDevices('gaudi2');
    const bare = (ctx: Context): End => {
      const cq = createCq(ctx, 64, { portNum: 1 });
      const pd = ctx.allocPd();
      const cap = { maxSendWr: 64, maxRecvWr: 4, maxSendSge: 1, maxRecvSge: 1 };
      const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
      return { ctx, pd, cq, qp } as unknown as End;
    };
    const other = open('hbl_1');
    setPortEx(other, { portNum: 1 });
    a = bare(open('hbl_0', 'default'));
    b = bare(other);
  });

  it('have one work queue type each', () => {
    const both = { wqType: QpWqTypes.WRITE | QpWqTypes.RECV_RDV };
    expect(
      codeOf(() => {
        modifyQp(a.qp, toInit(), both);
      }),
    ).toBe('EINVAL');
  });

  it('get a new number with every INIT', () => {
    modifyQp(a.qp, toInit());
    const { qpNum } = queryQp(a.qp);
    modifyQp(a.qp, toInit());
    expect(queryQp(a.qp).qpNum).not.toBe(qpNum);
  });

  it('fall back to RESET when RTR or RTS fails', () => {
    modifyQp(a.qp, toInit());
    const refused = codeOf(() => {
      modifyQp(a.qp, { ...toRtr(b), pathMtu: Mtu.MTU_512 });
    });
    expect(refused).toBe('EINVAL');
    expect(a.qp.query().attr.qpState).toBe(QpState.RESET);
  });

  it('do not check an encapNum with ENCAP, and refuse one without', () => {
    modifyQp(a.qp, toInit());
    modifyQp(a.qp, toRtr(b), { caps: QpCaps.ENCAP, encapNum: 2 });
    expect(() => {
      modifyQp(a.qp, toRts(), { encapNum: 2 });
    }).toThrow(/^hblAttr\.encapNum needs QpCaps\.ENCAP/);
  });

  it('have default attributes for INIT, RTR and RTS only', () => {
    const refused = (attr: QpAttr) =>
      codeOf(() => {
        a.qp.modify(attr);
      });
    connect(a, b);
    expect(refused({ qpState: QpState.ERR })).toBe('EINVAL');
    expect(refused({ qpState: QpState.RESET })).toBe('EINVAL');
    expect(refused({ minRnrTimer: 3 })).toBe('EINVAL');
    expect(() => {
      modifyQp(a.qp, { qpState: QpState.ERR });
    }).toThrow(/give \{\} for other states/);
    modifyQp(a.qp, { qpState: QpState.ERR }, {});
    expect(a.qp.query().attr.qpState).toBe(QpState.ERR);
    modifyQp(a.qp, { qpState: QpState.RESET }, {});
    expect(a.qp.query().attr.qpState).toBe(QpState.RESET);
  });

  it('know the states INIT, RTR, RTS, RESET and ERR only', () => {
    connect(a, b);
    const drained = codeOf(() => {
      modifyQp(a.qp, { qpState: QpState.SQD }, {});
    });
    expect(drained).toBe('EINVAL');
  });
});

describe('ordinary verbs', () => {
  it('are refused by gaudi2 as by its library', () => {
    configureDevices('gaudi2');
    const ctx = open('hbl_0', 'default');
    expect(ctx.queryDevice()).toMatchObject({ maxCq: 1, maxMr: 1 });
    const pd = ctx.allocPd();
    expect(codeOf(() => ctx.allocPd())).toBe('ESRCH');
    expect(codeOf(() => pd.allocMr(4096, 0))).toBe('EOPNOTSUPP');
    expect(codeOf(() => ctx.createCq(4))).toBe('EOPNOTSUPP');
    const grh = { dgid: ctx.queryGid(1, 0), sgidIndex: 0, hopLimit: 1 };
    expect(codeOf(() => pd.createAh({ portNum: 1, grh }))).toBe('EOPNOTSUPP');
    const cq = createCq(ctx, 4, { portNum: 1 });
    expect(codeOf(() => cq.poll())).toBe('EOPNOTSUPP');
    const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
    expect(
      codeOf(() => {
        qp.postRecv({ sgList: [] });
      }),
    ).toBe('EOPNOTSUPP');
    expect(
      codeOf(() => pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } })),
    ).toBe('EOPNOTSUPP');
  });
});

describe.each(PROFILES)('completion queues of %s', (profile: Profile) => {
  it('are rounded up to a power of two from 4 to 8192', () => {
    const ctx = ready(profile);
    const sizes = [1, 4, 5, 100, 8192].map((cqe) => queryCq(createCq(ctx, cqe, { portNum: 1 })).cqSize / 16);
    expect(sizes).toEqual([4, 4, 8, 128, 8192]);
    expect(codeOf(() => createCq(ctx, 8193, { portNum: 1 }))).toBe('EINVAL');
  });

  it('are 14 a port, of type QP or CC, else EINVAL', () => {
    const ctx = ready(profile);
    const cqs = Array.from({ length: 14 }, () => createCq(ctx, 4, { portNum: 1 }));
    expect(codeOf(() => createCq(ctx, 4, { portNum: 1 }))).toBe('EBUSY');
    cqs[0]?.close();
    expect(codeOf(() => createCq(ctx, 4, { portNum: 1, cqType: 2 as number }))).toBe('EINVAL');
    expect(codeOf(() => createCq(ctx, 4, { portNum: 5 }))).toBe('EINVAL');
    expect(queryCq(createCq(ctx, 4, { portNum: 1 }))).toMatchObject({ mapped: true, cqType: CqType.QP });
  });

  it('for congestion control need ADVANCED, and are one a port', () => {
    const ctx = ready(profile);
    const cc = (portNum: number) => () => createCq(ctx, 16, { portNum, cqType: CqType.CC });
    expect(codeOf(cc(1))).toBe('EOPNOTSUPP');
    setPortEx(ctx, { portNum: 2, caps: PortCaps.ADVANCED });
    const first = cc(2)();
    expect(queryCq(first).cqType).toBe(CqType.CC);
    expect(codeOf(cc(2))).toBe('EBUSY');
    first.close();
    cc(2)();
  });
});
