import { describe, expect, it } from 'vitest';
import { AccessFlags, QpState, SendFlags, WrOpcode } from '../../src/index.js';
import { collectUntil } from '../shared/collect.js';
import { bench, createQp, pair, take } from '../helpers/devices.js';

const INIT = { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 } as const;
const RESET = { qpState: QpState.RESET } as const;

describe('a queue pair in RESET', () => {
  it('has room for as many requests as before', () => {
    const b = bench();
    const qp = createQp(b);
    for (let round = 0; round < 3; round++) {
      qp.modify(INIT);
      for (let i = 0; i < qp.cap.maxRecvWr; i++) qp.postRecv({ wrId: i });
      qp.modify(RESET);
    }
    expect(b.cq.poll()).toEqual([]);
  });

  it('lets go of the memory of its requests', async () => {
    const b = bench();
    const qp = createQp(b);
    qp.modify(INIT);
    let collected = false;
    const registry = new FinalizationRegistry(() => {
      collected = true;
    });
    const postAndForget = () => {
      const mr = b.pd.allocMr(4096, AccessFlags.LOCAL_WRITE);
      registry.register(mr.buffer, undefined);
      qp.postRecv({ sgList: [{ mr }] });
    };
    postAndForget();
    qp.modify(RESET);
    expect(await collectUntil(() => collected)).toBe(true);
  });

  it('gives the ids of requests that had completed before, and none of theirs to the next', async () => {
    const b = bench();
    const qp = createQp(b);
    qp.modify(INIT);
    for (const wrId of [1, 2, 3]) qp.postRecv({ wrId });
    qp.modify({ qpState: QpState.ERR });
    await b.cq.wait();
    qp.modify(RESET);
    qp.modify(INIT);
    for (const wrId of [4, 5, 6]) qp.postRecv({ wrId });
    const before = b.cq.poll();
    expect(before.map(({ wrId }) => wrId)).toEqual([1, 2, 3].slice(0, before.length));
    qp.modify({ qpState: QpState.ERR });
    expect((await take(b.cq, 3)).map(({ wrId }) => wrId)).toEqual([4, 5, 6]);
  });

  it('rejects what awaits a request that it dropped, and the process can end', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const waiting = two.recv({ sgList: [{ mr: b.mr, length: 8 }] });
    two.modify(RESET);
    await expect(waiting).rejects.toMatchObject({ code: 'ECANCELED', syscall: 'ibv_modify_qp' });
    expect(one.closed).toBe(false);
    expect(b.cq.poll()).toEqual([]);
  });
});

it('closed, resolves what awaits a request that had completed before', async () => {
  const b = bench();
  const mine = b.ctx.createCq(16, { channel: b.channel });
  const [one, two] = [createQp(b), createQp({ pd: b.pd, cq: mine })];
  const gid = b.ctx.defaultGid().gid;
  one.connect({ remote: { qpNum: two.qpNum, gid } });
  two.connect({ remote: { qpNum: one.qpNum, gid } });
  const waiting = two.recv({ wrId: 7, sgList: [{ mr: b.mr, length: 8 }] });
  one.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr: b.mr, length: 5 }] });
  // Acknowledged: the receiver's completion is there, and without a turn of the loop nobody has looked at it.
  const until = Date.now() + 10_000;
  while (b.cq.poll().length === 0) expect(Date.now()).toBeLessThan(until);
  two.close();
  await expect(waiting).resolves.toMatchObject({ wrId: 7, byteLen: 5 });
  expect(mine.poll()).toEqual([]);
});
