// @ts-check
// A message there and back over a reliable connection, as ibv_rc_pingpong.
//   node rc-pingpong.mjs            # in one shell
//   node rc-pingpong.mjs 127.0.0.1  # in another one
import { randomInt } from 'node:crypto';
import { AccessFlags, openDevice, QpType, SendFlags, WcOpcode, WrOpcode } from '@verbs/core';
import { pingPongArguments, report } from './ping-pong.mjs';
import { rendezvous } from './rendezvous.mjs';

const { host, port, size, iters } = pingPongArguments();

const ctx = openDevice();
const pd = ctx.allocPd();
const cq = ctx.createCq(16, { channel: ctx.createCompChannel() });
const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
const out = pd.allocMr(size, AccessFlags.LOCAL_WRITE);
const incoming = pd.allocMr(size, AccessFlags.LOCAL_WRITE);
const mine = { qpNum: qp.qpNum, psn: randomInt(1 << 24), gid: ctx.defaultGid().gid };

const channel = await rendezvous(host, port);
channel.send(mine);
const remote = /** @type {typeof mine} */ (await channel.receive());
qp.connect({ remote, psn: mine.psn, pathMtu: ctx.queryPort(1).activeMtu });
qp.postRecv({ sgList: [{ mr: incoming }] });
// The peer sends when this side is connected and has a buffer.
channel.send('ready');
await channel.receive();

const send = (/** @type {number} */ round) => {
  out.bytes.fill(round);
  qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr: out }] });
};

const since = process.hrtime.bigint();
let received = 0;
let sent = 0;
if (host !== undefined) send(0);
for await (const wc of cq) {
  if (!wc.ok) throw new Error(`${wc.opcodeName}: ${wc.statusText}`);
  if (wc.opcode === WcOpcode.SEND) {
    sent++;
  } else {
    if (incoming.bytes[size - 1] !== (received & 0xff)) throw new Error(`round ${received} brought other bytes`);
    received++;
    if (received < iters) qp.postRecv({ sgList: [{ mr: incoming }] });
    const next = host === undefined ? received - 1 : received;
    if (next < iters) send(next);
  }
  if (sent === iters && received === iters) break;
}
report(size, iters, since);
channel.close();
ctx.close();
