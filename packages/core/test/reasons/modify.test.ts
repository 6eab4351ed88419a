import { describe, expect, it } from 'vitest';
import {
  AccessFlags,
  enumName,
  Mtu,
  type QpAttr,
  QpState,
  QpType,
  type QueuePair,
  VerbsError,
} from '../../src/index.js';
import { stepFields } from '../../src/reasons/steps.js';
import { type Bench, bench, createQp } from '../helpers/devices.js';

/** A value that fits, for each field of the three steps. */
const valuesOf = ({ ctx }: Bench): Required<Omit<QpAttr, 'cap' | 'rateLimit' | `alt${string}`>> =>
  ({
    pkeyIndex: 0,
    portNum: 1,
    qpAccessFlags: AccessFlags.REMOTE_WRITE,
    qkey: 17,
    ahAttr: { portNum: 1, grh: { dgid: ctx.defaultGid().gid, sgidIndex: ctx.defaultGid().index } },
    pathMtu: Mtu.MTU_1024,
    destQpNum: 17,
    rqPsn: 1,
    sqPsn: 1,
    maxDestRdAtomic: 1,
    minRnrTimer: 12,
    timeout: 14,
    retryCnt: 7,
    rnrRetry: 7,
    maxRdAtomic: 1,
  }) as never;

const STEPS = [
  ['RESET', 'INIT'],
  ['INIT', 'RTR'],
  ['RTR', 'RTS'],
] as const;

function message(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(VerbsError);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
}

const modify = (qp: QueuePair, attr: QpAttr) => {
  qp.modify(attr);
};

describe.each(['RC', 'UC', 'UD'] as const)('the steps of %s', (type) => {
  it.each(STEPS)('%s to %s: each field that is missing is named, and none is asked for in vain', (from, to) => {
    const b = bench();
    const values = valuesOf(b) as unknown as Record<string, unknown>;
    const ready = () => {
      const qp = createQp(b, QpType[type]);
      for (const [before, after] of STEPS) {
        if (before === from) break;
        modify(qp, attrOf(before, after));
      }
      return qp;
    };
    const attrOf = (before: string, after: 'INIT' | 'RTR' | 'RTS', without?: string) => {
      const names = stepFields(type, before, after)?.needed ?? [];
      const given = names.filter((name) => name !== without).map((name) => [name, values[name]]);
      return { qpState: QpState[after], ...Object.fromEntries(given) } as QpAttr;
    };
    const needed = stepFields(type, from, to)?.needed ?? [];
    for (const name of needed) {
      const text = message(() => {
        modify(ready(), attrOf(from, to, name));
      });
      expect(text).toContain(`attr.${name} is missing: for the step from ${from} to ${to}, ${type} needs`);
      expect(text).toContain(`${from} -> ${to}`);
    }
    expect(() => {
      modify(ready(), attrOf(from, to));
    }).not.toThrow();
  });
});

describe('modify names', () => {
  const refused = (
    prepare: (qp: QueuePair, b: Bench) => void,
    attr: (b: Bench) => QpAttr,
    type: QpType = QpType.RC,
  ) => {
    const b = bench();
    const qp = createQp(b, type);
    prepare(qp, b);
    return message(() => {
      modify(qp, attr(b));
    });
  };
  const fresh = () => undefined;
  const init = (qp: QueuePair) => {
    if (qp.qpType === QpType.UD) qp.init({ qkey: 17 });
    else qp.init();
  };
  const connected = (qp: QueuePair, b: Bench) => {
    qp.connect(createQp(b).endpoint());
  };

  it('several missing fields at once', () => {
    expect(refused(fresh, () => ({ qpState: QpState.INIT }))).toContain(
      'attr.pkeyIndex, attr.portNum and attr.qpAccessFlags are missing: for the step from RESET to INIT, RC needs ' +
        'pkeyIndex, portNum and qpAccessFlags',
    );
  });

  it('a field that does not belong to the step', () => {
    const attr = { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0, sqPsn: 5 } as const;
    expect(refused(fresh, () => attr)).toContain(
      'attr.sqPsn does not belong to the step from RESET to INIT: there RC takes',
    );
    expect(refused(init, () => ({ qpState: QpState.RESET, portNum: 1 }))).toContain('there RC takes no further field');
    expect(refused(connected, () => ({ destQpNum: 5 }))).toContain('attr.destQpNum does not belong to a change in RTS');
  });

  it('a state that is left out, and one that there is no way back to', () => {
    expect(refused(fresh, () => ({ qpState: QpState.RTR }))).toContain('INIT comes before RTR');
    expect(refused(init, () => ({ qpState: QpState.RTS }))).toContain(
      'RTR comes before RTS, and the queue pair is in INIT',
    );
    expect(refused(connected, () => ({ qpState: QpState.RTR }))).toContain(
      'is in RTS already: a queue pair is connected once',
    );
    const failed = (qp: QueuePair, b: Bench) => {
      connected(qp, b);
      qp.modify({ qpState: QpState.ERR });
    };
    expect(refused(failed, () => ({ qpState: QpState.RTS }))).toContain('only RESET leads out of ERR');
    expect(refused(connected, () => ({ qpState: QpState.RTS, curQpState: QpState.SQD }))).toContain(
      'attr.curQpState says SQD, and the queue pair is in RTS',
    );
  });

  it('a second connect()', () => {
    const b = bench();
    const [one, two] = [createQp(b), createQp(b)];
    one.connect(two.endpoint());
    const text = message(() => {
      one.connect(two.endpoint());
    });
    expect(text).toContain('RTS -> INIT');
    expect(text).toContain('reset it first, by modify({ qpState: QpState.RESET })');
  });

  it.each([
    ['portNum', (b: Bench) => ({ ...initOf(b), portNum: 2 }), 'attr.portNum is 2, and the device has 1 port'],
    [
      'pkeyIndex',
      (b: Bench) => ({ ...initOf(b), pkeyIndex: 3 }),
      /attr.pkeyIndex is 3, and port 1 has \d+ partition keys/,
    ],
  ])('a value that the device does not have: %s', (_name, attr, text) => {
    expect(refused(fresh, attr)).toMatch(text);
  });

  const initOf = (b: Bench): QpAttr => {
    const { pkeyIndex, portNum, qpAccessFlags } = valuesOf(b);
    return { qpState: QpState.INIT, pkeyIndex, portNum, qpAccessFlags };
  };

  it.each([
    ['no route', { ahAttr: { portNum: 1 } }, 'attr.ahAttr.grh is missing: port 1 is Ethernet (RoCE)'],
    [
      'another port',
      { ahAttr: { portNum: 3, grh: { dgid: '::1' } } },
      'attr.ahAttr.portNum is 3, and the device has 1 port',
    ],
    [
      'a group',
      { ahAttr: { portNum: 1, grh: { dgid: 'ff0e::1' } } },
      'is a multicast group, and a connection has one peer',
    ],
    [
      'too many reads',
      { maxDestRdAtomic: 255 },
      /attr.maxDestRdAtomic is 255, above maxQpRdAtom of queryDevice\(\), \d+/,
    ],
  ] as const)('a path or a number that cannot be: %s', (_name, wrong, text) => {
    const attr = (b: Bench) => {
      const { ahAttr, pathMtu, destQpNum, rqPsn, maxDestRdAtomic, minRnrTimer } = valuesOf(b);
      const right = { ahAttr, pathMtu, destQpNum, rqPsn, maxDestRdAtomic, minRnrTimer };
      return { qpState: QpState.RTR, ...right, ...wrong } as QpAttr;
    };
    expect(refused(init, attr)).toMatch(text);
  });

  it('an MTU above that of the port', () => {
    const b = bench();
    const { activeMtu } = b.ctx.queryPort(1);
    if (activeMtu === Mtu.MTU_4096) return;
    const qp = createQp(b);
    const gid = b.ctx.defaultGid().gid;
    const text = message(() => {
      qp.connect({ remote: { qpNum: 17, gid }, pathMtu: Mtu.MTU_4096 });
    });
    expect(text).toContain(`above the active MTU of port 1, Mtu.${enumName(Mtu, activeMtu)}`);
  });
});
