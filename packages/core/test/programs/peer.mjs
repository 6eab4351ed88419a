// One of two processes. They exchange their addresses over standard input and output, as lines of JSON; then the
// client writes to the server's memory and sends, and the server answers.
import { createInterface } from 'node:readline';
import { AccessFlags, openDevice, QpType, SendFlags, WrOpcode } from '../../dist/index.js';

const server = process.argv[2] === 'server';
const ctx = openDevice(process.env.VERBS_TEST_DEVICE);
try {
  const pd = ctx.allocPd();
  const cq = ctx.createCq(16, { channel: ctx.createCompChannel() });
  const mr = pd.allocMr(1 << 16, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ);
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 8, maxRecvWr: 8 } });
  const take = async () => {
    await cq.wait();
    const [wc] = cq.poll(1);
    if (!wc?.ok) throw new Error(wc?.statusText);
    return wc;
  };
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const mine = {
    gid: ctx.defaultGid().gid,
    qpNum: qp.qpNum,
    psn: process.pid & 0xffffff,
    addr: String(mr.addr),
    rkey: mr.rkey,
  };
  console.log(JSON.stringify(mine));
  const peer = JSON.parse((await lines.next()).value);
  const { gid, qpNum, psn } = peer;
  // The kernel's soft-RoCE takes 7 retries for "without end". Either process may get no processor for seconds.
  qp.connect({ remote: { gid, qpNum, psn }, psn: mine.psn, timeout: 17, retryCnt: 6 });
  qp.postRecv({ wrId: 1, sgList: [{ mr, offset: 32768, length: 4096 }] });
  console.log('connected');
  await lines.next();
  if (server) {
    const { immData } = await take();
    const sum = mr.bytes.subarray(0, immData).reduce((total, byte) => total + byte, 0);
    mr.bytes.set(Buffer.from(String(sum)), 0);
    qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: String(sum).length }] });
    await take();
    console.log(`sum ${sum} of ${immData}`);
  } else {
    const length = 20000;
    for (let i = 0; i < length; i++) mr.bytes[i] = i & 255;
    const remoteAddr = BigInt(peer.addr);
    qp.postSend({
      opcode: WrOpcode.RDMA_WRITE_WITH_IMM,
      immData: length,
      remoteAddr,
      rkey: peer.rkey,
      sgList: [{ mr, length }],
    });
    const { byteLen } = await take();
    console.log(`answer ${Buffer.from(mr.buffer, 32768, byteLen).toString()}`);
  }
  // Both stay until both have everything.
  await lines.next();
} finally {
  ctx.close();
  process.stdin.destroy();
}
