// @ts-check
// A message there and back over a reliable connection, as ibv_rc_pingpong.
//   node rc-pingpong.mjs            # in one shell
//   node rc-pingpong.mjs 127.0.0.1  # in another one
import { AccessFlags, openDevice, SendFlags, WcOpcode, WrOpcode } from '@verbs/core';
import { meet, pingPongArguments, report } from './ping-pong.mjs';

const { host, port, size, iters } = pingPongArguments();

const ctx = openDevice();
const pd = ctx.allocPd();
const out = pd.allocMr(size, AccessFlags.LOCAL_WRITE);
const incoming = pd.allocMr(size, AccessFlags.LOCAL_WRITE);

const connection = await meet(host, {
  port,
  pd,
  cap: { maxSendWr: 1, maxRecvWr: 1 },
  // The peer sends as soon as it is connected: its first message needs a buffer.
  prepare: (qp) => {
    qp.postRecv({ sgList: [{ mr: incoming }] });
  },
});
const { qp, cq } = connection;

const send = (/** @type {number} */ round) => {
  out.bytes.fill(round);
  qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr: out }] });
};

const since = process.hrtime.bigint();
let received = 0;
let sent = 0;
let posted = 0;
/** Sends what is due: whoever dials begins. The send queue has one place, and an answer may come before the acknowledgement. */
const advance = () => {
  const due = host === undefined ? received : received + 1;
  if (posted === sent && posted < Math.min(due, iters)) send(posted++);
};
advance();
for await (const wc of cq) {
  if (!wc.ok) throw new Error(`${wc.opcodeName}: ${wc.statusText}`);
  if (wc.opcode === WcOpcode.SEND) {
    sent++;
  } else {
    if (incoming.bytes[size - 1] !== (received & 0xff)) throw new Error(`round ${received} brought other bytes`);
    received++;
    if (received < iters) qp.postRecv({ sgList: [{ mr: incoming }] });
  }
  advance();
  if (sent === iters && received === iters) break;
}
report(size, iters, since);
connection.close();
ctx.close();
