import { importDevice, SendFlags, WrOpcode } from '../../src/index.js';
import { expect, it } from 'vitest';
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
