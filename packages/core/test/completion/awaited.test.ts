import { describe, expect, it } from 'vitest';
import {
  CompletionBatch,
  CompletionError,
  objectCounts,
  SendFlags,
  VerbsError,
  WcStatus,
  WrOpcode,
} from '../../src/index.js';
import { ALL_ACCESS, bench, createQp, open, pair } from '../helpers/devices.js';

const { SEND, RDMA_READ, RDMA_WRITE } = WrOpcode;

describe('send and recv', () => {
  it('resolve with their own completions, in any order, with the wrId that was given', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const received = [0, 1, 2].map((i) =>
      two.recv({ wrId: BigInt(i), sgList: [{ mr: b.mr, offset: i * 64, length: 64 }] }),
    );
    const sent = [0, 1, 2].map((i) =>
      one.send({ opcode: SEND, wrId: i, sgList: [{ mr: b.mr, offset: 1024, length: i + 1 }] }),
    );
    expect((await Promise.all(received)).map(({ wrId, byteLen }) => [wrId, byteLen])).toEqual([
      [0n, 1],
      [1n, 2],
      [2n, 3],
    ]);
    expect((await Promise.all(sent)).map(({ wrId, status }) => [wrId, status])).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
    ]);
    expect(b.cq.poll()).toEqual([]);
  });

  it('refuse an option that they do not know, and what is no signal', async () => {
    const b = bench();
    const [one] = pair(b);
    const wr = { opcode: SEND, sgList: [{ mr: b.mr, length: 8 }] } as const;
    const misspelt = { signl: AbortSignal.abort() } as never;
    const refused = /options\.signl is not known here; known are signal/;
    await expect(one.send(wr, misspelt)).rejects.toThrow(refused);
    await expect(one.recv({ sgList: wr.sgList }, misspelt)).rejects.toThrow(refused);
    await expect(b.cq.wait(misspelt)).rejects.toThrow(refused);
    await expect(one.send(wr, { signal: 5 as never })).rejects.toThrow('options.signal must be an AbortSignal');
    expect(b.cq.poll()).toEqual([]);
  });

  it('are rejected, not forgotten, when the completion queue overflows', async () => {
    const b = bench();
    const cq = b.ctx.createCq(4);
    const [one] = pair({ ...b, cq });
    const write = { opcode: RDMA_WRITE, sgList: [{ mr: b.mr, length: 8 }], remote: b.mr.remote() } as const;
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => one.send(write)));
    const failed = results.filter((each) => each.status === 'rejected').map(({ reason }) => String(reason));
    expect(failed.length).toBeGreaterThan(0);
    for (const each of failed)
      expect(each).toMatch(/EIO.*more requests completed than the completion queue has entries/);
    // What completed after the overflow comes first.
    expect(() => {
      for (let i = 0; i < 12; i++) cq.poll();
    }).toThrow(/EIO/);
  });

  it('leave the completions of others to those who poll, by every call', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const sgList = [{ mr: b.mr, length: 8 }];
    const batch = new CompletionBatch(4);
    const read = { opcode: RDMA_READ, sgList, remoteAddr: b.mr.addr, rkey: b.mr.rkey, sendFlags: SendFlags.SIGNALED };
    for (const poll of [
      () => b.cq.poll(4).map(({ wrId }) => wrId),
      () => Array.from({ length: b.cq.pollBatch(batch) }, (_, i) => batch.wrId(i)),
    ]) {
      two.postSend({ ...read, wrId: 5 });
      const awaited = one.send(read);
      two.postSend({ ...read, wrId: 6 });
      const others: unknown[] = [];
      await awaited;
      while (others.length < 2) {
        await b.cq.wait();
        others.push(...poll());
      }
      expect(others.map(Number)).toEqual([5, 6]);
    }
    const awaited = one.send(read);
    two.postSend({ ...read, wrId: 7 });
    for await (const wc of b.cq) {
      expect(wc.wrId).toBe(7);
      break;
    }
    expect((await awaited).ok).toBe(true);
  });

  it('more completions of others than one look finds are kept', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const sgList = [{ mr: b.mr, length: 8 }];
    const write = { opcode: RDMA_WRITE, sgList, remoteAddr: b.mr.addr, rkey: b.mr.rkey, sendFlags: SendFlags.SIGNALED };
    const waiting = two.recv({ sgList });
    for (let i = 0; i < 160; i++) {
      two.postSend({ ...write, wrId: i });
      await one.send(write);
    }
    let expected = 0;
    while (expected < 160) {
      await b.cq.wait();
      for (const wc of b.cq.poll(7)) expect(wc.wrId).toBe(expected++);
    }
    await one.send({ opcode: SEND, sgList });
    expect((await waiting).byteLen).toBe(8);
  });

  it('reject with the completion of a request that fails', async () => {
    const b = bench();
    const [one] = pair(b);
    const sgList = [{ mr: b.mr, length: 8 }];
    const failing = one.send({ opcode: RDMA_WRITE, wrId: 9, sgList, remoteAddr: b.mr.addr, rkey: b.mr.rkey ^ 0xff });
    const flushed = one.send({ opcode: SEND, wrId: 10, sgList });
    const error = await failing.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CompletionError);
    expect(error).toBeInstanceOf(VerbsError);
    expect(error).toMatchObject({ code: 'WC_REM_ACCESS_ERR', syscall: 'ibv_poll_cq', wc: { wrId: 9 } });
    await expect(flushed).rejects.toMatchObject({ wc: { wrId: 10, status: WcStatus.WR_FLUSH_ERR } });
  });

  it('refuse what cannot be posted or awaited, and forget it', async () => {
    const b = bench();
    const [one] = pair(b);
    await expect(one.send({ opcode: SEND, sgList: [{ mr: 1 as never }] })).rejects.toThrow(/wr\.sgList\[0\]\.mr/);
    await expect(one.send([] as never)).rejects.toThrow(/^wr must be one work request/);
    await expect(one.recv(undefined as never)).rejects.toThrow(TypeError);
    await expect(one.send({ opcode: SEND, wrId: -1 })).rejects.toThrow(/wr\.wrId/);
    const silent = createQp({ pd: b.pd, cq: b.ctx.createCq(4, { channel: null }) });
    await expect(silent.recv({})).rejects.toMatchObject({ code: 'EINVAL', message: /no completion channel/ as never });
    expect(b.cq.poll()).toEqual([]);
  });

  it('end when the signal, the queue pair or the queue ends', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const sgList = [{ mr: b.mr, length: 8 }];
    const controller = new AbortController();
    const aborted = two.recv({ sgList }, { signal: controller.signal });
    const second = two.recv({ wrId: 2, sgList });
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    await expect(two.recv({ sgList }, { signal: controller.signal })).rejects.toThrow('enough');
    // The aborted request is still in the queue: it receives the first message, which waits for the next recv.
    await one.send({ opcode: SEND, sgList });
    await one.send({ opcode: SEND, sgList });
    expect((await second).wrId).toBe(2);
    expect(b.cq.poll()).toEqual([]);
    expect((await two.recv({ wrId: 3, sgList })).wrId).toBe(3);

    const orphan = two.recv({ sgList });
    two.close();
    await expect(orphan).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
    const last = one.recv({ sgList });
    b.ctx.close();
    await expect(last).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
    await expect(one.recv({ sgList })).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
  });

  it('an aborted wait holds neither the queue pair nor the process', async () => {
    const ctx = open();
    const start = () => {
      const pd = ctx.allocPd();
      const cq = ctx.createCq(8, { channel: ctx.createCompChannel() });
      const [one] = pair({ ctx, pd, cq });
      return one.recv({ sgList: [{ mr: pd.allocMr(64, ALL_ACCESS) }] }, { signal: AbortSignal.timeout(10) });
    };
    await expect(start()).rejects.toThrow(/timeout/);
    for (let i = 0; i < 500 && objectCounts()['QueuePair'] !== 0; i++) {
      globalThis.gc?.();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(objectCounts()).toMatchObject({ QueuePair: 0, CompletionQueue: 0, CompletionChannel: 0, MemoryRegion: 0 });
  });

  it('a queue pair that is only awaited is not collected', async () => {
    const b = bench();
    const mr = b.pd.allocMr(64, ALL_ACCESS);
    const start = () => {
      const [one, two] = pair(b);
      return { received: two.recv({ sgList: [{ mr }] }), one };
    };
    const { received, one } = start();
    for (let i = 0; i < 3; i++) {
      globalThis.gc?.();
      await new Promise(setImmediate);
    }
    await one.send({ opcode: SEND, sgList: [{ mr, length: 5 }] });
    expect((await received).byteLen).toBe(5);
  });
});
