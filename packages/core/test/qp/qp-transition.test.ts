import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  AccessFlags,
  Mtu,
  openDevice,
  type QpAttr,
  type QpModify,
  QpState,
  QpType,
  type QueuePair,
} from '../../src/index.js';

// Each line marked with @ts-expect-error is one that the compiler must refuse; the NIC refuses it too.

function create<const T extends QpType>(qpType: T): QueuePair<T> {
  const ctx = openDevice('soft0');
  const cq = ctx.createCq(4);
  return ctx.allocPd().createQp({ qpType, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
}

const refused = (call: () => void) => {
  expect(call).toThrow(expect.objectContaining({ code: 'EINVAL', syscall: 'ibv_modify_qp' }) as Error);
};
const qpAccessFlags = AccessFlags.LOCAL_WRITE;
const init = { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1 } as const;

describe('the fields that a transition needs are needed by its type', () => {
  it('RC', () => {
    using qp = create(QpType.RC);
    const { gid: dgid, index: sgidIndex } = qp.context.defaultGid();
    const ahAttr = { portNum: 1, grh: { dgid, sgidIndex, hopLimit: 1 } };
    const path = { pathMtu: Mtu.MTU_1024, destQpNum: qp.qpNum, rqPsn: 0, ahAttr };
    const timers = { sqPsn: 0, timeout: 14, retryCnt: 7, rnrRetry: 7 };
    refused(() => {
      // @ts-expect-error qpAccessFlags is missing
      qp.modify(init);
    });
    qp.modify({ ...init, qpAccessFlags });
    refused(() => {
      // @ts-expect-error minRnrTimer is missing
      qp.modify({ qpState: QpState.RTR, ...path, maxDestRdAtomic: 1 });
    });
    qp.modify({ qpState: QpState.RTR, ...path, maxDestRdAtomic: 1, minRnrTimer: 12 });
    refused(() => {
      // @ts-expect-error maxRdAtomic is missing
      qp.modify({ qpState: QpState.RTS, ...timers });
    });
    qp.modify({ qpState: QpState.RTS, ...timers, maxRdAtomic: 1 });
    qp.modify({ qpState: QpState.SQD });
    qp.modify({ qpState: QpState.RTS, curQpState: QpState.SQD });
    qp.modify({ qpAccessFlags });
    qp.modify({ qpState: QpState.ERR });
    qp.modify({ qpState: QpState.RESET });
    expect(qp.query().attr.qpState).toBe(QpState.RESET);
  });

  it('UC', () => {
    using qp = create(QpType.UC);
    const { gid: dgid, index: sgidIndex } = qp.context.defaultGid();
    const ahAttr = { portNum: 1, grh: { dgid, sgidIndex, hopLimit: 1 } };
    qp.modify({ ...init, qpAccessFlags });
    refused(() => {
      // @ts-expect-error rqPsn is missing
      qp.modify({ qpState: QpState.RTR, pathMtu: Mtu.MTU_1024, destQpNum: qp.qpNum, ahAttr });
    });
    qp.modify({ qpState: QpState.RTR, pathMtu: Mtu.MTU_1024, destQpNum: qp.qpNum, ahAttr, rqPsn: 0 });
    qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
  });

  it('UD', () => {
    using qp = create(QpType.UD);
    refused(() => {
      // @ts-expect-error qkey is missing
      qp.modify(init);
    });
    qp.modify({ ...init, qkey: 1 });
    qp.modify({ qpState: QpState.RTR });
    refused(() => {
      // @ts-expect-error sqPsn is missing
      qp.modify({ qpState: QpState.RTS });
    });
    qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
  });

  it('a queue pair whose type is not known takes every attribute', () => {
    using qp = create(QpType.UD);
    expectTypeOf(qp).toExtend<QueuePair>();
    expectTypeOf<QpModify>().toEqualTypeOf<QpAttr>();
    const any: QueuePair = qp;
    refused(() => {
      any.modify({ qpState: QpState.INIT });
    });
    expect(() => {
      // @ts-expect-error a name that is misspelt
      qp.modify({ ...init, qkey: 1, pkeyindex: 0 });
    }).toThrow(TypeError);
  });
});
