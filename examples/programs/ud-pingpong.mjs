// @ts-check
// A datagram there and back, as ibv_ud_pingpong. The listening side makes its address handle from the first
// datagram: nobody tells it the peer's address.
//   node ud-pingpong.mjs            # in one shell
//   node ud-pingpong.mjs 127.0.0.1  # in another one
import { AccessFlags, openDevice, QpType, SendFlags, WcOpcode, WrOpcode } from '@verbs/core';
import { meet, pingPongArguments, report } from './ping-pong.mjs';

const { host, port, size, iters } = pingPongArguments();
/** Bytes of the global routing header, which the NIC writes before the payload of every received datagram. */
const GRH = 40;
const qkey = 0x11111111;

const ctx = openDevice();
const pd = ctx.allocPd();
const cq = ctx.createCq(16, { channel: ctx.createCompChannel() });
const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
qp.activate({ qkey });
const out = pd.allocMr(size, AccessFlags.LOCAL_WRITE);
const incoming = pd.allocMr(GRH + size, AccessFlags.LOCAL_WRITE);
qp.postRecv({ sgList: [{ mr: incoming }] });

// The connection only carries the address of the listening side.
const privateData = host === undefined ? { qpNum: qp.qpNum, gid: ctx.defaultGid().gid } : undefined;
const connection = await meet(host, { port, pd, privateData });
/** @type {{ ah: import('@verbs/core').AddressHandle, remoteQpn: number } | undefined} */
let peer;
if (host !== undefined) {
  const remote = /** @type {{ qpNum: number, gid: string }} */ (connection.privateData);
  // The route to the peer: RoCE has none without a global routing header.
  const ah = pd.createAh({ portNum: 1, grh: { dgid: remote.gid, hopLimit: 64 } });
  peer = { ah, remoteQpn: remote.qpNum };
}

const send = (/** @type {number} */ round) => {
  if (peer === undefined) return;
  out.bytes.fill(round);
  const sendFlags = SendFlags.SIGNALED;
  qp.postSend({ opcode: WrOpcode.SEND, sendFlags, ...peer, remoteQkey: qkey, sgList: [{ mr: out }] });
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
    if (wc.byteLen !== GRH + size) throw new Error(`a datagram of ${wc.byteLen - GRH} bytes`);
    if (incoming.bytes[GRH + size - 1] !== (received & 0xff)) throw new Error(`round ${received} brought other bytes`);
    peer ??= { ah: pd.createAhFromWc(wc, incoming.bytes.subarray(0, GRH), 1), remoteQpn: wc.srcQp };
    received++;
    if (received < iters) qp.postRecv({ sgList: [{ mr: incoming }] });
    const next = host === undefined ? received - 1 : received;
    if (next < iters) send(next);
  }
  if (sent === iters && received === iters) break;
}
report(size, iters, since);
connection.close();
ctx.close();
