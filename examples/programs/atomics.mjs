// @ts-check
// Counters and locks in another program's memory: fetch-and-add gives every client its own tickets, compare-and-swap
// lets one at a time into a critical section. The memory's owner does nothing.
import { AccessFlags, openDevice, QpType, WrOpcode } from '@verbs/core';

const CLIENTS = 4;
const ROUNDS = 50;
const TICKET = 0n;
const LOCK = 8n;
const BALANCE = 16n;

const ctx = openDevice();
const pd = ctx.allocPd();
const gid = ctx.defaultGid().gid;
const ALL = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;
const shared = pd.allocMr(24, ALL);
const ownersCq = ctx.createCq(1);

const cap = { maxSendWr: 4, maxRecvWr: 1 };
const clients = Array.from({ length: CLIENTS }, (_, number) => {
  const cq = ctx.createCq(8, { channel: ctx.createCompChannel() });
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
  const owner = pd.createQp({ qpType: QpType.RC, sendCq: ownersCq, recvCq: ownersCq, cap });
  qp.connect({ remote: { qpNum: owner.qpNum, gid }, access: ALL });
  owner.connect({ remote: { qpNum: qp.qpNum, gid }, access: ALL });
  const mr = pd.allocMr(8, AccessFlags.LOCAL_WRITE);
  const word = new BigUint64Array(mr.buffer);

  /** One request to the shared memory; `word` holds the result. */
  const perform = async (
    /** @type {Exclude<import('@verbs/core').SendWr, import('@verbs/core').FlushRequest>} */ wr,
  ) => {
    await qp.send({ ...wr, sgList: [{ mr }] });
    return word[0] ?? 0n;
  };
  return {
    number: BigInt(number + 1),
    // Referenced to the end: a collected queue pair no longer responds.
    owner,
    fetchAndAdd: (/** @type {bigint} */ at, /** @type {bigint} */ add) =>
      perform({ opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, remoteAddr: shared.addr + at, rkey: shared.rkey, add }),
    compareAndSwap: (/** @type {bigint} */ at, /** @type {bigint} */ compare, /** @type {bigint} */ swap) =>
      perform({ opcode: WrOpcode.ATOMIC_CMP_AND_SWP, remoteAddr: shared.addr + at, rkey: shared.rkey, compare, swap }),
    read: (/** @type {bigint} */ at) =>
      perform({ opcode: WrOpcode.RDMA_READ, remoteAddr: shared.addr + at, rkey: shared.rkey }),
    write: (/** @type {bigint} */ at, /** @type {bigint} */ value) => {
      word[0] = value;
      return perform({ opcode: WrOpcode.RDMA_WRITE, remoteAddr: shared.addr + at, rkey: shared.rkey });
    },
  };
});

/** @type {Set<bigint>} */
const tickets = new Set();
await Promise.all(
  clients.map(async ({ number, fetchAndAdd, compareAndSwap, read, write }) => {
    for (let round = 0; round < ROUNDS; round++) tickets.add(await fetchAndAdd(TICKET, 1n));
    for (let round = 0; round < ROUNDS; round++) {
      while ((await compareAndSwap(LOCK, 0n, number)) !== 0n);
      // Reading, adding and writing in three steps is right only because the lock is held.
      await write(BALANCE, (await read(BALANCE)) + number);
      if ((await compareAndSwap(LOCK, number, 0n)) !== number) throw new Error('somebody else held the lock');
    }
  }),
);
const balance = new BigUint64Array(shared.buffer)[2];
const expected = clients.reduce((sum, { number }) => sum + number * BigInt(ROUNDS), 0n);
console.log(`${tickets.size} different tickets of ${CLIENTS * ROUNDS}`);
console.log(`balance ${balance}, expected ${expected}`);
if (tickets.size !== CLIENTS * ROUNDS || balance !== expected) process.exitCode = 1;
ctx.close();
