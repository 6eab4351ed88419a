import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Mtu, QpState, QpType, VerbsError, WrOpcode } from '../../src/index.js';
import { bench, createQp, open, pair } from '../helpers/devices.js';

describe('createQp', () => {
  it('gives at least what was asked for', () => {
    const b = bench();
    const qp = createQp(b);
    expect(qp.cap.maxSendWr).toBeGreaterThanOrEqual(16);
    expect(qp.cap.maxRecvSge).toBeGreaterThanOrEqual(4);
    expect(qp.qpNum).toBeGreaterThan(0);
    expect(inspect(qp)).toMatch(/^QueuePair #\d+ \{\s+qpType: RC \(2\),\s+qpNum: 0x[0-9a-f]+,/);
  });

  it('checks its attributes by name', () => {
    const { pd, cq } = bench();
    const good = { qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } };
    expect(() => pd.createQp({ ...good, cap: { ...good.cap, maxSendWr: -1 } })).toThrow(/attr\.cap\.maxSendWr/);
    expect(() => pd.createQp({ ...good, sendCq: pd as never })).toThrow(/attr\.sendCq must be a CompletionQueue/);
    expect(() => pd.createQp({ ...good, qpType: 'RC' as never })).toThrow(/attr\.qpType/);
    expect(() => pd.createQp({ ...good, sqSigAll: 1 as never })).toThrow(/attr\.sqSigAll must be a boolean/);
    expect(() => pd.createQp({ ...good, cap: undefined as never })).toThrow(/attr\.cap must be an object/);
    expect(() => pd.createQp({ ...good, cap: { maxSendWr: 0xffffff, maxRecvWr: 1 } })).toThrow(VerbsError);
    expect(() => pd.createQp({ ...good, cap: { maxSendWr: 1, maxRecvWr: 1, maxRecvSge: 999 } })).toThrow(
      /^EINVAL: .*: attr\.cap\.maxRecvSge is 999, above maxSge of queryDevice\(\), \d+$/,
    );
  });

  it('without a send or a receive queue says so, and not that one is full', () => {
    const { pd, cq, mr } = bench();
    const none = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 0, maxRecvWr: 0 } });
    expect(() => {
      none.postSend({ opcode: WrOpcode.SEND, sgList: [{ mr, length: 8 }] });
    }).toThrow(/^EINVAL: .*the queue pair was created with cap\.maxSendWr 0: it has no send queue$/);
    expect(() => {
      none.postRecv({ sgList: [{ mr, length: 8 }] });
    }).toThrow(/^EINVAL: .*the queue pair was created with cap\.maxRecvWr 0: it has no receive queue$/);
  });

  it('refuses queues of another context', () => {
    const { pd } = bench();
    const cq = open().createCq(8);
    expect(() => createQp({ pd, cq })).toThrow(
      /EINVAL.*attr\.sendCq is of another context than the protection domain$/,
    );
  });
});

describe('modify and query', () => {
  it('walks through the states and remembers the attributes', () => {
    const b = bench();
    const [qp] = pair(b);
    const { attr, initAttr } = qp.query();
    expect(attr).toMatchObject({ qpState: QpState.RTS, pathMtu: Mtu.MTU_1024, rqPsn: 200, sqPsn: 100, timeout: 14 });
    expect(attr.ahAttr.grh.dgid).toBe(b.ctx.defaultGid().gid);
    expect(initAttr).toMatchObject({ qpType: QpType.RC, sqSigAll: false });
    qp.modify({ qpState: QpState.ERR });
    expect(qp.query().attr.qpState).toBe(QpState.ERR);
    qp.modify({ qpState: QpState.RESET });
    expect(qp.query().attr.qpState).toBe(QpState.RESET);
  });

  it('names wrong fields, and misspelt ones', () => {
    const qp = createQp(bench());
    expect(() => {
      // @ts-expect-error there is no such state
      qp.modify({ qpState: 9 });
    }).toThrow(/attr\.qpState must be an integer from 0 to 7; received 9/);
    expect(() => {
      qp.modify({ qpstate: 1 } as never);
    }).toThrow(/attr\.qpstate is not known here/);
    expect(() => {
      qp.modify({ qpState: QpState.RTR, ahAttr: { portNum: 1, grh: { dgid: 'x' } } });
    }).toThrow(/attr\.ahAttr\.grh\.dgid/);
    expect(() => {
      qp.modify({ rqPsn: 0x1000000 });
    }).toThrow(RangeError);
  });

  it('lets the library refuse a transition', () => {
    const qp = createQp(bench());
    expect(() => {
      qp.modify({ qpState: QpState.RTS });
    }).toThrow(/EINVAL: invalid argument, ibv_modify_qp of 0x[0-9a-f]+ RESET -> RTS: RTR comes before RTS/);
  });

  it('has shortcuts that check what they get', () => {
    const b = bench();
    const rc = createQp(b);
    const ud = createQp(b, QpType.UD);
    expect(() => {
      ud.connect({ remote: { qpNum: 1, gid: '::1' } });
    }).toThrow(/activate/);
    expect(() => {
      rc.activate({ qkey: 1 });
    }).toThrow(/connect/);
    expect(() => {
      rc.connect({ remote: { qpNum: 1 } });
    }).toThrow(/options\.remote\.gid/);
    expect(() => {
      rc.connect({ remote: {} as never });
    }).toThrow(TypeError);
    expect(() => {
      rc.connect({ remote: { gid: '::1' } as never });
    }).toThrow(/options\.remote\.qpNum/);
    for (const gid of ['127.0.0.1', 5, new Uint8Array(4)]) {
      expect(() => {
        rc.connect({ remote: { qpNum: 1, gid: gid as never } });
      }).toThrow(/^options\.remote\.gid/);
    }
    expect(() => {
      ud.activate({} as never);
    }).toThrow(/options\.qkey/);
  });
});
