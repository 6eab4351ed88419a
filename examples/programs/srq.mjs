// @ts-check
// One pool of receive buffers for many connections: a shared receive queue, refilled at its limit event.
import { AccessFlags, openDevice, QpType, WcOpcode, WrOpcode } from '@verbs/core';

const CLIENTS = 8;
const MESSAGES = 100;
const SIZE = 64;
const BUFFERS = 64;
const LOW = 16;

const ctx = openDevice();
const pd = ctx.allocPd();
const gid = ctx.defaultGid().gid;

// The service: one queue for all its queue pairs, and one completion queue for received messages.
const srq = pd.createSrq({ maxWr: BUFFERS });
const pool = pd.allocMr(BUFFERS * SIZE, AccessFlags.LOCAL_WRITE);
const arrivals = ctx.createCq(BUFFERS, { channel: ctx.createCompChannel() });
/** Free buffers. */
const free = Array.from({ length: BUFFERS }, (_, index) => index);
/** The limit event came while no buffer was free. */
let low = /** @type {boolean} */ (false);
let refills = 0;

const refill = () => {
  low = free.length === 0;
  if (low) return;
  refills++;
  srq.postRecv(
    free.splice(0).map((index) => ({ wrId: index, sgList: [{ mr: pool, offset: index * SIZE, length: SIZE }] })),
  );
  // The event fires once; arm it again.
  srq.modify({ srqLimit: LOW });
};
refill();

const ending = new AbortController();
const refilling = (async () => {
  for await (const event of ctx.asyncEvents({ signal: ending.signal })) {
    if (event.name !== 'SRQ_LIMIT_REACHED' || event.element !== srq) continue;
    refill();
  }
})().catch((/** @type {unknown} */ error) => {
  if (!ending.signal.aborted) throw error;
});

// The clients, each with a connection of its own.
const cap = { maxSendWr: 4, maxRecvWr: 1 };
const clients = Array.from({ length: CLIENTS }, (_, number) => {
  const cq = ctx.createCq(8, { channel: ctx.createCompChannel() });
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
  const end = pd.createQp({ qpType: QpType.RC, sendCq: arrivals, recvCq: arrivals, srq, cap });
  qp.connect({ remote: { qpNum: end.qpNum, gid } });
  end.connect({ remote: { qpNum: qp.qpNum, gid } });
  return { number, qp, end, mr: pd.allocMr(SIZE, AccessFlags.LOCAL_WRITE) };
});

const sending = clients.map(async ({ number, qp, mr }) => {
  for (let message = 0; message < MESSAGES; message++) {
    mr.bytes.fill(number);
    await qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr }] });
  }
});

const counts = new Map(clients.map(({ end }) => [end.qpNum, 0]));
let arrived = 0;
for await (const wc of arrivals) {
  if (!wc.ok || wc.opcode !== WcOpcode.RECV) throw new Error(wc.statusText);
  const index = Number(wc.wrId);
  const sender = clients.find(({ end }) => end.qpNum === wc.qpNum);
  if (sender === undefined || pool.bytes[index * SIZE] !== sender.number)
    throw new Error('a message of another client');
  counts.set(wc.qpNum, (counts.get(wc.qpNum) ?? 0) + 1);
  free.push(index);
  // A burst may empty the queue before the event is armed again.
  if (low || free.length === BUFFERS) refill();
  if (++arrived === CLIENTS * MESSAGES) break;
}
await Promise.all(sending);
ending.abort();
await refilling;
for (const { number, end } of clients) console.log(`client ${number}: ${counts.get(end.qpNum) ?? 0} messages`);
console.log(`${arrived} messages through ${BUFFERS} buffers, refilled ${refills} times`);
ctx.close();
