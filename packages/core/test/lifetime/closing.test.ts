import { importDevice, QpState, SendFlags, WrOpcode } from '../../src/index.js';
import { native } from '../../src/base/native.js';
import { expect, it, vi } from 'vitest';
import { bench, datagram, open, pair, take } from '../helpers/devices.js';

it('closes a queue pair that is in multicast groups, and its parents', () => {
  const b = bench();
  const [one, two] = [datagram(b), datagram(b)];
  for (const qp of [one, two]) qp.attachMcast('ff0e::ffff:224.1.2.3');
  one.close();
  b.ctx.close();
  expect([one.closed, two.closed, b.pd.closed]).toEqual([true, true, true]);
});

it('leaves the descriptor of a context to it when the device is imported', async () => {
  const ctx = open();
  importDevice(ctx.cmdFd, ctx.device).close();
  const again = importDevice(ctx.cmdFd, ctx.device);
  expect(again.cmdFd).not.toBe(ctx.cmdFd);
  again.close();
  const b = bench();
  const [one, two] = pair(b);
  two.postRecv({ wrId: 1 });
  one.postSend({ wrId: 2, opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED });
  expect((await take(b.cq, 2)).every(({ ok }) => ok)).toBe(true);
});

it('does not end the process when a request of send() or recv() closes what it is for', async () => {
  const b = bench();
  const [one] = pair(b);
  const stop = new AbortController();
  const wr = {
    get sgList() {
      b.cq.close();
      return [];
    },
  };
  await expect(one.recv(wr, { signal: stop.signal })).rejects.toThrow(/closed/);
  stop.abort();
});

// Adapters of mlx5 remove the completions of a queue pair when it is destroyed or reset. The software NIC does not, so the
// native calls of the test do: they empty the queue first.
it.each(['close', 'close of the domain', 'reset'])('keeps what has completed before a %s', async (way) => {
  const b = bench();
  const cq = b.ctx.createCq(64);
  const [one, two] = pair(b, undefined, cq);
  const awaited = two.recv({ sgList: [{ mr: b.mr, offset: 4096 }] });
  two.postRecv({ wrId: 7, sgList: [{ mr: b.mr, offset: 8192 }] });
  const wr = { opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr: b.mr, length: 8 }] };
  for (let i = 0; i < 2; i++) one.postSend(wr);
  // Without a turn of the event loop, in which the promise would settle.
  for (let sent = 0; sent < 2; sent += b.cq.poll().length);
  const records = new Uint8Array(64 * 64);
  const own = { ...native };
  const handle = (cq as unknown as Record<symbol, never>)[Symbol.for('@verbs/core.handle')] as never;
  const emptied = <A extends unknown[], R>(call: (...args: A) => R) =>
    vi.fn((...args: A) => {
      while (own.poll(handle, records, 64) > 0);
      return call(...args);
    });
  native.close = emptied(own.close.bind(own));
  native.modifyQp = emptied(own.modifyQp.bind(own));
  try {
    if (way === 'close') two.close();
    else if (way === 'reset') two.modify({ qpState: QpState.RESET });
    else b.pd.close();
  } finally {
    Object.assign(native, { close: own.close.bind(own), modifyQp: own.modifyQp.bind(own) });
  }
  expect(await awaited).toMatchObject({ byteLen: 8 });
  expect(cq.poll()).toMatchObject([{ wrId: 7, ok: true }]);
});
