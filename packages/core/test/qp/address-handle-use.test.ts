import { describe, expect, it } from 'vitest';
import { type AhAttr, QpType, type QueuePair, VerbsError, WcFlags, WrOpcode } from '../../src/index.js';
import { collect } from '../shared/collect.js';
import { type Bench, bench, createQp, datagram, QKEY, take } from '../helpers/devices.js';

const grh = { dgid: '::ffff:127.0.0.1' };

describe('every number of ibv_ah_attr and ibv_global_route', () => {
  const fields: [path: string, min: number, max: number, make: (value: unknown) => object][] = [
    ['attr.portNum', 1, 255, (portNum) => ({ portNum, grh })],
    ['attr.dlid', 0, 0xffff, (dlid) => ({ portNum: 1, dlid, grh })],
    ['attr.sl', 0, 15, (sl) => ({ portNum: 1, sl, grh })],
    ['attr.srcPathBits', 0, 127, (srcPathBits) => ({ portNum: 1, srcPathBits, grh })],
    ['attr.staticRate', 0, 255, (staticRate) => ({ portNum: 1, staticRate, grh })],
    ['attr.grh.flowLabel', 0, 0xfffff, (flowLabel) => ({ portNum: 1, grh: { ...grh, flowLabel } })],
    ['attr.grh.sgidIndex', 0, 255, (sgidIndex) => ({ portNum: 1, grh: { ...grh, sgidIndex } })],
    ['attr.grh.hopLimit', 0, 255, (hopLimit) => ({ portNum: 1, grh: { ...grh, hopLimit } })],
    ['attr.grh.trafficClass', 0, 255, (trafficClass) => ({ portNum: 1, grh: { ...grh, trafficClass } })],
  ];

  it.each(fields)('%s is from %i to %i', (path, min, max, make) => {
    const { pd } = bench();
    const create = (value: unknown) => () => pd.createAh(make(value) as AhAttr);
    for (const value of [min - 1, max + 1, -1, 2 ** 32, min + 0.5, NaN, Infinity]) {
      expect(create(value)).toThrow(
        expect.objectContaining({
          name: 'RangeError',
          code: 'ERR_OUT_OF_RANGE',
          message: expect.stringMatching(`^${path} must be an integer from ${min} to ${max}`) as string,
        }),
      );
    }
    for (const value of ['1', 1n, null, true, {}, [1]]) {
      expect(create(value)).toThrow(
        expect.objectContaining({
          name: 'TypeError',
          code: 'ERR_INVALID_ARG_TYPE',
          message: expect.stringMatching(`^${path} must be a number from ${min} to ${max}`) as string,
        }),
      );
    }
    // Both ends are this field's, though the device may not have them.
    for (const value of [min, max]) {
      let made: unknown;
      try {
        made = create(value)();
      } catch (error) {
        made = error;
        expect(error).toBeInstanceOf(VerbsError);
        expect(error).toMatchObject({ syscall: 'ibv_create_ah', errno: expect.any(Number) as number });
      }
      expect(made).toBeDefined();
    }
  });
});

/** A datagram from one to the other by that handle. */
async function sends(b: Bench, from: QueuePair, to: QueuePair, ah: ReturnType<Bench['pd']['createAh']>) {
  to.postRecv({ wrId: 5, sgList: [{ mr: b.mr, offset: 4096, length: 256 }] });
  from.postSend({
    opcode: WrOpcode.SEND,
    ah,
    remoteQpn: to.qpNum,
    remoteQkey: QKEY,
    sgList: [{ mr: b.mr, length: 8 }],
  });
  const [wc] = await take(b.cq, 1);
  expect(wc).toMatchObject({ wrId: 5, ok: true, srcQp: from.qpNum });
  return wc;
}

describe('an address handle', () => {
  it('serves all queue pairs of its protection domain, also after those that used it are closed', async () => {
    const b = bench();
    const [one, two, three] = [datagram(b), datagram(b), datagram(b)];
    const ah = b.pd.createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } });
    await sends(b, one, two, ah);
    await sends(b, two, three, ah);
    one.close();
    await sends(b, three, two, ah);
    expect(ah.closed).toBe(false);
  });

  it('serves those of a parent domain, and the other way round', async () => {
    const b = bench();
    const parent = b.pd.allocParentDomain();
    const inner = createQp({ pd: parent, cq: b.cq }, QpType.UD);
    inner.activate({ qkey: QKEY });
    const outer = datagram(b);
    const dgid = b.ctx.defaultGid().gid;
    await sends(b, inner, outer, b.pd.createAh({ portNum: 1, grh: { dgid } }));
    await sends(b, outer, inner, parent.createAh({ portNum: 1, grh: { dgid } }));
  });

  it('is refused by queue pairs of another protection domain', () => {
    const b = bench();
    const qp = datagram(b);
    const ah = b.ctx.allocPd().createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } });
    const wr = { opcode: WrOpcode.SEND, ah, remoteQpn: qp.qpNum, remoteQkey: QKEY } as const;
    expect(() => {
      qp.postSend(wr);
    }).toThrow(/^wr\.ah is of another protection domain/);
    const good = { ...wr, ah: b.pd.createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } }) };
    expect(() => {
      qp.postSend([good, wr]);
    }).toThrow(
      expect.objectContaining({ posted: 1, message: expect.stringMatching(/^wr\[1\]\.ah is of another/) as string }),
    );
  });

  it('stays while a request uses it, and its protection domain while it is there', async () => {
    const b = bench();
    const [one, two] = [datagram(b), datagram(b)];
    const dgid = b.ctx.defaultGid().gid;
    two.postRecv({ wrId: 5, sgList: [{ mr: b.mr, offset: 4096, length: 256 }] });
    const postAndForget = () => {
      const ah = b.pd.createAh({ portNum: 1, grh: { dgid } });
      one.postSend({ opcode: WrOpcode.SEND, ah, remoteQpn: two.qpNum, remoteQkey: QKEY });
    };
    postAndForget();
    await collect();
    expect((await take(b.cq, 1))[0]).toMatchObject({ wrId: 5, ok: true });
    // A domain with live handles closes them first.
    const handles = Array.from({ length: 50 }, () => b.pd.createAh({ portNum: 1, grh: { dgid } }));
    b.pd.close();
    expect(handles.every(({ closed }) => closed)).toBe(true);
    expect(() => b.pd.createAh({ portNum: 1, grh: { dgid } })).toThrow(
      expect.objectContaining({ code: 'ERR_VERBS_CLOSED', syscall: 'ibv_create_ah' }),
    );
  });
});

describe('a routing header', () => {
  it('that is missing, short, detached or no bytes is an error by its name', async () => {
    const b = bench();
    const [one, two] = [datagram(b), datagram(b)];
    const wc = await sends(b, one, two, b.pd.createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } }));
    if (wc === undefined) throw new Error('no completion');
    const detached = new Uint8Array(64);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    const { wcFlags, srcQp, slid, sl, dlidPathBits, pkeyIndex } = wc;
    const given = { wcFlags, srcQp, slid, sl, dlidPathBits, pkeyIndex };
    const calls = [
      (grh: unknown) => b.pd.createAhFromWc(wc, grh as never, 1),
      (grh: unknown) => b.ctx.initAhFromWc(1, wc, grh as never),
    ];
    for (const call of calls) {
      for (const bad of [undefined, null, 'text', new ArrayBuffer(40), new Uint16Array(40)])
        expect(() => call(bad)).toThrow(
          expect.objectContaining({ name: 'TypeError', message: expect.stringMatching(/^grh must be/) as string }),
        );
      for (const bad of [new Uint8Array(0), new Uint8Array(39), detached])
        expect(() => call(bad)).toThrow(/^grh has \d+ bytes, not 40/);
      // Also shared memory and more than the header will do.
      const shared = new Uint8Array(new SharedArrayBuffer(64));
      shared.set(b.mr.bytes.subarray(4096, 4096 + 64));
      expect(call(shared)).toMatchObject({});
      expect(call(b.mr.bytes.subarray(4096))).toMatchObject({});
    }
    // A completion that does not speak of a header, on a port that needs one.
    const without = { ...given, wcFlags: wc.wcFlags & ~WcFlags.GRH };
    for (const header of [undefined, new Uint8Array(40)])
      expect(() => b.pd.createAhFromWc(without, header, 1)).toThrow(/EINVAL.*wcFlags with GRH.*first 40 bytes/);
    // What is no completion at all.
    for (const bad of [
      undefined,
      null,
      5,
      {},
      { ...given, slid: 65536 },
      { ...given, srcQp: 1 << 24 },
      { ...given, wcFlags: '1' },
    ])
      expect(() => b.pd.createAhFromWc(bad as never, b.mr.bytes.subarray(4096), 1)).toThrow(/^wc/);
    for (const bad of [0, 256, 1.5, '1'])
      expect(() => b.pd.createAhFromWc(wc, b.mr.bytes.subarray(4096), bad as never)).toThrow(/^portNum must be/);
    expect(() => b.pd.createAhFromWc(wc, b.mr.bytes.subarray(4096), 9)).toThrow(VerbsError);
  });
});
