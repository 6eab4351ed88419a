// What a program sees when its device was unplugged: reading its descriptors is EIO then (the kernel's ib_uverbs_event_read).
// A stand-in for two native calls, since no device can be unplugged here.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { native } from '../../src/base/native.js';
import { receiver, WrOpcode } from '../../src/index.js';
import { bench, open, pair } from '../helpers/devices.js';

const EIO = -5;
const lost = expect.objectContaining({ code: 'EIO' }) as Error;

afterEach(() => {
  vi.restoreAllMocks();
});

describe('an unplugged device', () => {
  it('rejects what waits for completions, and what waits later', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const messages = receiver(two, { slots: 2 });
    const waits = [two.recv({ sgList: [{ mr: b.mr }] }), messages.next(), b.cq.wait()];
    const next = b.cq[Symbol.asyncIterator]().next();
    await new Promise((resolve) => setTimeout(resolve, 20)); // they sleep
    vi.spyOn(native, 'getCqEvent').mockReturnValue(EIO);
    one.postSend({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: 8 }] });
    for (const wait of [...waits, next]) await expect(wait).rejects.toThrow(lost);
    await expect(two.recv({ sgList: [{ mr: b.mr }] })).rejects.toThrow(lost);
  });

  it('ends the iterations over its events with the error', async () => {
    const ctx = open();
    const srq = ctx.allocPd().createSrq({ maxWr: 8 });
    const waiting = ctx.asyncEvents().next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    vi.spyOn(native, 'getAsyncEvent').mockReturnValue(EIO);
    srq.modify({ srqLimit: 4 });
    await expect(waiting).rejects.toThrow(lost);
    await expect(ctx.asyncEvents().next()).rejects.toThrow(lost);
  });
});
