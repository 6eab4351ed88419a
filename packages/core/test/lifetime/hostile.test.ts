import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { Context, CompletionQueue, QueuePair } from '../../src/index.js';
import { handleOf } from '../../src/provider/index.js';
import { native, type Native, type NativeHandle } from '../../src/base/native.js';
import { bench, createQp, datagram, pair } from '../helpers/devices.js';

/** Values that are no handles. */
const junk: unknown[] = [
  undefined,
  null,
  0,
  -1,
  1n,
  'x',
  true,
  Symbol('x'),
  {},
  [],
  () => 0,
  new Uint8Array(8),
  new Proxy({}, {}),
];

const handle = (object: object, kind: string) => handleOf(object, kind, 'x', 'x');

describe('the addon', () => {
  it('throws for any junk in any place of any function', () => {
    const b = bench();
    const qp = createQp(b);
    const handles = [
      handle(b.ctx, 'Context'),
      handle(b.pd, 'ProtectionDomain'),
      handle(b.mr, 'MemoryRegion'),
      handle(b.channel, 'CompletionChannel'),
      handle(b.cq, 'CompletionQueue'),
      handle(qp, 'QueuePair'),
    ];
    const values = [...junk, ...handles, native.nativeApi];
    let thrown = 0;
    for (const [name, call] of Object.entries(native) as [keyof Native, (...values: unknown[]) => unknown][]) {
      // Closing would take the objects away from the calls that follow.
      if (typeof call !== 'function' || name === 'close' || name.startsWith('watch')) continue;
      for (const first of values) {
        for (const second of values) {
          for (const args of [[], [first], [first, second], [first, second, second], [first, second, 1, second]]) {
            try {
              call(...args);
            } catch (error) {
              expect(error).toBeInstanceOf(Error);
              thrown++;
            }
          }
        }
      }
    }
    expect(thrown).toBeGreaterThan(1000);
    // Everything still works.
    expect(b.ctx.queryDevice().physPortCnt).toBe(1);
  }, 180_000);

  it('refuses handles of other kinds', () => {
    const { ctx, pd } = bench();
    expect(() => native.queryDevice(handle(pd, 'ProtectionDomain'))).toThrow(/expected a handle of a Context/);
    expect(() => native.poll(handle(ctx, 'Context'), new Uint8Array(48), 1)).toThrow(TypeError);
  });

  it('refuses Externals of other origin', () => {
    expect(() => native.close(native.nativeApi as NativeHandle)).toThrow(/not a verbs object/);
  });

  it('does not believe a batch', () => {
    const b = bench();
    const [rc] = pair(b);
    const ud = datagram(b);
    let seed = 1;
    const random = () => (seed = Math.imul(seed, 1103515245) + 12345) >>> 8;
    for (let round = 0; round < 3000; round++) {
      const bytes = new Uint8Array(random() % 400);
      for (let i = 0; i < bytes.length; i++) bytes[i] = random() % 4 === 0 ? random() : 0;
      // Where the reading begins and the slots lie, and that they hold requests, is mostly made to look right.
      if (random() % 4 !== 0) bytes.fill(0, 8, 16);
      if (random() % 2 !== 0) bytes[12] = 16 * (random() % 8);
      for (const flags of [28, 80]) if (random() % 4 !== 0) bytes[flags] = (bytes[flags] ?? 0) | 2;
      const count = random() % 8;
      for (const qp of [rc, ud]) {
        const target = handle(qp, 'QueuePair');
        expect(typeof native.postSend(target, bytes, count)).toBe('number');
        expect(typeof native.postRecv(target, bytes, count)).toBe('number');
      }
      expect(native.poll(handle(b.cq, 'CompletionQueue'), bytes, count)).toBeGreaterThanOrEqual(0);
    }
  });
});

describe('the classes', () => {
  it('refuse forged objects and foreign receivers', () => {
    const { ctx, cq } = bench();
    const forged = {
      closed: false,
      [Symbol.for('@verbs/core.kind')]: 'CompletionQueue',
      [Symbol.for('@verbs/core.handle')]: {},
    };
    const pd = ctx.allocPd();
    const cap = { maxSendWr: 1, maxRecvWr: 1 };
    expect(() => pd.createQp({ qpType: 2, sendCq: forged as never, recvCq: cq, cap })).toThrow(TypeError);
    for (const receiver of junk) {
      // eslint-disable-next-line @typescript-eslint/unbound-method -- that is the point
      for (const method of [Context.prototype.queryDevice, CompletionQueue.prototype.poll, QueuePair.prototype.close]) {
        expect(() => {
          Reflect.apply(method, receiver, []);
        }).toThrow(TypeError);
      }
    }
    expect(() => new (QueuePair as never as new () => unknown)()).toThrow(TypeError);
  });

  it('refuse an id that is made up', () => {
    const b = bench();
    const qp = createQp(b);
    const mr = {
      closed: false,
      length: 8,
      [Symbol.for('@verbs/core.kind')]: 'MemoryRegion',
      [Symbol.for('@verbs/core.requestId')]: 123456,
    };
    expect(() => {
      qp.postRecv({ sgList: [{ mr: mr as never }] });
    }).toThrow(/wr\.sgList\[0\]\.mr/);
  });

  it('survive a close in the midst of everything', () => {
    const b = bench();
    const qp = createQp(b);
    const attr = {
      portNum: 1,
      get sl() {
        b.ctx.close();
        return 0;
      },
      grh: { dgid: '::ffff:127.0.0.1' },
    };
    expect(() => b.pd.createAh(attr)).toThrow(/closed/);
    expect(qp.closed).toBe(true);
  });

  it('do not travel to other threads in working order', () => {
    const { ctx } = bench();
    const { port1 } = new MessageChannel();
    expect(() => {
      port1.postMessage(handle(ctx, 'Context'));
    }).toThrow(/could not be cloned/);
    port1.close();
  });
});
