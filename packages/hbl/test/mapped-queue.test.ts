// The bounds of the mapped send queue are those of what libhbl mapped, whatever JavaScript believes.
import { QpState, type QueuePair } from '@verbs/core';
import { expect, it } from 'vitest';
import { modifyQp, queryQp, type SendWorkQueue, SwqGranularity } from '../src/index.js';
import { codeOf, configureDevices, connect, type End, end, open, toInit, toRtr, toRts } from './helpers/devices.js';

const WIDE = { init: { wqGranularity: SwqGranularity.GRAN_64B } };
/** 128 entries of 32 bytes are a page; of 64 bytes, two. */
const ENTRIES = 128;
const PAST_A_PAGE = ENTRIES - 1;

function ends(): [End, End] {
  configureDevices();
  const bytes = 4096;
  return [
    end(open('hbl_0', 'default'), { bytes, maxSendWr: ENTRIES }),
    end(open('hbl_1', 'default'), { bytes, maxSendWr: ENTRIES }),
  ];
}

function queueOf(qp: QueuePair): SendWorkQueue {
  const { sendQueue } = queryQp(qp);
  if (sendQueue === undefined) throw new Error('no work queue is mapped');
  return sendQueue;
}

const reset = ({ qp }: End) => {
  modifyQp(qp, { qpState: QpState.RESET });
};

const wide = new Uint8Array(64);

it('a queue that was kept over a RESET does not reach beyond smaller entries', () => {
  const [a, b] = ends();
  connect(a, b, WIDE);
  const kept = queueOf(a.qp);
  expect(kept).toMatchObject({ entries: ENTRIES, entrySize: 64 });
  kept.write(PAST_A_PAGE, wide);
  reset(a);
  expect(codeOf(() => kept.write(0, wide))).toBe('EINVAL');
  connect(a, b);
  for (const index of [0, 1, PAST_A_PAGE]) expect(codeOf(() => kept.write(index, wide))).toBe('EINVAL');
  expect(queueOf(a.qp)).toMatchObject({ entries: ENTRIES, entrySize: 32 });
});

it('an INIT by qp.modify has entries of 32 bytes, as in C', () => {
  const [a, b] = ends();
  connect(a, b, WIDE);
  reset(a);
  a.qp.modify(toInit());
  modifyQp(a.qp, toRtr(b));
  modifyQp(a.qp, toRts());
  const queue = queueOf(a.qp);
  expect(queue).toMatchObject({ entries: ENTRIES, entrySize: 32 });
  expect(() => queue.write(PAST_A_PAGE, wide)).toThrow(RangeError);
  expect(queue.write(PAST_A_PAGE, wide.subarray(0, 32))).toBe(ENTRIES);
});

it('a RESET by qp.modify takes the queue away', () => {
  const [a, b] = ends();
  connect(a, b, WIDE);
  const kept = queueOf(a.qp);
  a.qp.modify({ qpState: QpState.RESET });
  expect(queryQp(a.qp).sendQueue).toBeUndefined();
  expect(codeOf(() => kept.write(0, wide))).toBe('EINVAL');
});

it.each([
  ['entries', 1 << 20],
  ['entries', 1],
  ['entries', -1],
  ['entries', Number.NaN],
  ['entrySize', 64],
  ['entrySize', 1 << 20],
] as const)('an assigned %s of %i is an error, and nothing is written', (name, value) => {
  const [a, b] = ends();
  connect(a, b);
  const queue = queueOf(a.qp);
  (queue as unknown as Record<string, number>)[name] = value;
  for (const index of [0, 1, 500_000]) expect(codeOf(() => queue.write(index, wide.subarray(0, 32)))).toBe('EINVAL');
});

it('the slot of an index is within the queue', () => {
  const [a, b] = ends();
  connect(a, b);
  const queue = queueOf(a.qp);
  for (const index of [0, ENTRIES, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
    expect(queue.write(index, wide.subarray(0, 32))).toBe(Number(BigInt(index + 1) & 0x3fffffn));
  }
});
