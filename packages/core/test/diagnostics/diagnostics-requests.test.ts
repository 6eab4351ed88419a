import { tracingChannel } from 'node:diagnostics_channel';
import { describe, expect, it } from 'vitest';
import {
  CompletionBatch,
  CompletionError,
  type CompletionErrorMessage,
  QpState,
  type QueuePair,
  RecvBatch,
  type RequestMessage,
  SendBatch,
  SendFlags,
  WcStatus,
  WrOpcode,
} from '../../src/index.js';
import { hear, listen } from '../helpers/channels.js';
import { type Bench, bench, createQp, pair, take } from '../helpers/devices.js';

/** A queue pair that takes no request but to fail it. */
function broken(b: Bench): QueuePair {
  const [qp] = pair(b);
  qp.modify({ qpState: QpState.ERR });
  return qp;
}
const write = (b: Bench, wrId: number | bigint) => ({
  ...{ opcode: WrOpcode.RDMA_WRITE, wrId, sendFlags: SendFlags.SIGNALED, sgList: [{ mr: b.mr, length: 8 }] },
  ...{ remoteAddr: b.mr.addr, rkey: b.mr.rkey },
});
const facts = ({ cq, qp, wc }: CompletionErrorMessage) => ({ cq, qp, wrId: wc.wrId, status: wc.statusName });

describe('verbs:completion:error', () => {
  it('publishes each failed completion once, whichever way it is polled', async () => {
    const b = bench();
    const heard = listen('verbs:completion:error');
    const qp = broken(b);
    const failed = (wrId: number | bigint) => ({ cq: b.cq, qp, wrId, status: 'WR_FLUSH_ERR' });
    qp.postSend([write(b, 1), write(b, 2n)]);
    await b.cq.wait();
    expect(b.cq.poll()).toHaveLength(2);
    expect(heard.splice(0).map(facts)).toEqual([failed(1), failed(2n)]);

    qp.postSend([write(b, 3), write(b, 4)]);
    const batch = new CompletionBatch(8);
    while (b.cq.pollBatch(batch) === 0);
    expect(heard.splice(0).map(facts)).toEqual([failed(3), failed(4)]);

    qp.postSend(write(b, 5));
    for await (const wc of b.cq) {
      expect(wc.wrId).toBe(5);
      break;
    }
    expect(heard.splice(0).map(facts)).toEqual([failed(5)]);

    await expect(qp.send(write(b, 6))).rejects.toThrow(CompletionError);
    expect(heard.splice(0).map(facts)).toEqual([failed(6)]);

    // While a request is awaited, the other completions are polled too, and stored.
    qp.postSend(write(b, 7));
    await expect(qp.send(write(b, 8))).rejects.toThrow(CompletionError);
    expect(b.cq.poll().map(({ wrId }) => wrId)).toEqual([7]);
    expect(heard.splice(0).map(facts)).toEqual([failed(7), failed(8)]);
    expect(heard).toEqual([]);
  });

  it('publishes also a request that is not awaited any more', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const heard = listen('verbs:completion:error');
    const abort = new AbortController();
    const waiting = one.recv({ wrId: 77, sgList: [{ mr: b.mr, length: 64 }] }, { signal: abort.signal });
    abort.abort();
    await expect(waiting).rejects.toThrow(/abort/);
    one.modify({ qpState: QpState.ERR });
    two.modify({ qpState: QpState.ERR });
    while (heard.length === 0) expect(b.cq.poll()).toEqual([]);
    expect(heard.map(facts)).toEqual([{ cq: b.cq, qp: one, wrId: 77, status: 'WR_FLUSH_ERR' }]);
  });

  it('does not publish success, and finds the queue in order', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const seen: unknown[] = [];
    // Whatever a subscriber does, the poll that told it gives what it found.
    hear('verbs:completion:error', ({ cq, wc }) => {
      seen.push(wc.wrId);
      // Finds the other one, which is told of before this goes on.
      seen.push(...cq.poll().map(({ wrId }) => wrId));
      if (cq.closed) return;
      cq.pollBatch(new CompletionBatch(4));
      b.ctx.close();
    });
    two.postRecv({ wrId: 1, sgList: [{ mr: b.mr, length: 64 }] });
    one.postSend({ opcode: WrOpcode.SEND, wrId: 2, sendFlags: SendFlags.SIGNALED, sgList: [{ mr: b.mr, length: 8 }] });
    await take(b.cq, 2);
    expect(seen).toEqual([]);
    one.modify({ qpState: QpState.ERR });
    one.postSend([write(b, 3), write(b, 4)]);
    const [first, ...others] = b.cq.poll(1);
    expect(first).toMatchObject({ wrId: 3, status: WcStatus.WR_FLUSH_ERR });
    expect(others).toEqual([]);
    expect(seen).toEqual([3, 4, 4]);
    expect(b.ctx.closed).toBe(true);
  });
});

describe('verbs:post:error', () => {
  const error = (call: () => void): unknown => {
    try {
      call();
    } catch (thrown) {
      return thrown;
    }
    return undefined;
  };

  it('tells of a queue that did not take everything, with the error that is thrown', () => {
    const b = bench();
    const heard = listen('verbs:post:error');
    const qp = createQp(b);
    const recv = { sgList: [{ mr: b.mr, length: 8 }] };
    const tooEarly = error(() => {
      qp.postSend([write(b, 1), write(b, 2)]);
    });
    expect(heard.splice(0)).toMatchObject([{ queue: qp, syscall: 'ibv_post_send', error: tooEarly, posted: 0 }]);
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
    const tooMany = error(() => {
      qp.postRecv(Array.from({ length: 20 }, () => recv));
    });
    expect(heard.splice(0)).toMatchObject([{ queue: qp, syscall: 'ibv_post_recv', error: tooMany, posted: 16 }]);

    const [sends, recvs] = [new SendBatch(2), new RecvBatch(2)];
    sends.set(0, write(b, 1));
    const unwritten = error(() => {
      qp.postSendBatch(sends, 1, 1);
    });
    expect(heard.splice(0)).toMatchObject([{ queue: qp, syscall: 'ibv_post_send', error: unwritten, posted: 0 }]);
    const srq = b.pd.createSrq({ maxWr: 1 });
    recvs.set(0, recv);
    recvs.set(1, recv);
    const full = error(() => {
      srq.postRecvBatch(recvs);
    });
    expect(heard.splice(0)).toMatchObject([{ queue: srq, syscall: 'ibv_post_srq_recv', error: full, posted: 1 }]);
    const wrong = error(() => {
      srq.postRecv([{ sgList: [{ mr: b.mr, length: -1 }] }, recv]);
    });
    expect(heard.splice(0)).toMatchObject([{ queue: srq, syscall: 'ibv_post_srq_recv', error: wrong, posted: 0 }]);
  });
});

describe('tracing:verbs:request', () => {
  it('follows awaited requests from the post to the completion', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const steps: [string, RequestMessage][] = [];
    const note = (step: string) => (message: RequestMessage) => void steps.push([step, { ...message }]);
    const subscribers = {
      ...{ start: note('start'), end: note('end'), error: note('error') },
      ...{ asyncStart: note('asyncStart'), asyncEnd: note('asyncEnd') },
    };
    const requests = tracingChannel<unknown, RequestMessage>('verbs:request');
    requests.subscribe(subscribers);
    try {
      const wr = write(b, 1);
      const wc = await one.send(wr);
      const names = ['start', 'end', 'asyncStart', 'asyncEnd'];
      expect(steps.map(([name]) => name)).toEqual(names);
      expect(steps[0]?.[1]).toMatchObject({ qp: one, method: 'send', wr });
      expect(steps[3]?.[1].result).toBe(wc);

      steps.length = 0;
      const receive = two.recv({ sgList: [{ mr: b.mr, length: 8 }] });
      two.modify({ qpState: QpState.ERR });
      const failure = await receive.catch((error: unknown) => error);
      expect(steps.map(([name]) => name)).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd']);
      expect(steps[2]?.[1]).toMatchObject({ qp: two, method: 'recv', error: failure });
      steps.length = 0;
      await expect(one.send({ ...wr, opcode: 99 as number })).rejects.toThrow(TypeError);
      expect(steps.map(([name]) => name)).toContain('error');
    } finally {
      requests.unsubscribe(subscribers);
    }
    steps.length = 0;
    one.modify({ qpState: QpState.ERR });
    await expect(one.recv({})).rejects.toThrow(CompletionError);
    expect(steps).toEqual([]);
  });
});
