// Programs with one mistake each, by its name: node wrong.mjs MISTAKE. Prints the message of the error that the program
// gets, and leaves with 3; what vanishes has none.
import { setTimeout as sleep } from 'node:timers/promises';
import { AccessFlags, Mtu, openDevice, QpState, QpType, SendFlags, WrOpcode } from '@verbs/core';

const { LOCAL_WRITE, REMOTE_WRITE } = AccessFlags;
const ctx = openDevice();
const pd = ctx.allocPd();
const cq = ctx.createCq(16);
const mr = pd.allocMr(1024, LOCAL_WRITE | REMOTE_WRITE);
const make = (qpType) =>
  pd.createQp({ qpType, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4, maxInlineData: 32 } });
const pair = () => [make(QpType.RC), make(QpType.RC)];
const connected = (options = {}) => {
  const [alice, bob] = pair();
  alice.connect(bob.endpoint(), options);
  bob.connect(alice.endpoint(), options);
  return [alice, bob];
};
const datagrams = () => {
  const ends = [make(QpType.UD), make(QpType.UD)];
  for (const end of ends) end.activate({ qkey: 0x1111 });
  return ends;
};
const send = (length, more = {}) => ({ opcode: WrOpcode.SEND, sgList: [{ mr, length }], ...more });
const write = (remote) => ({ opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr, length: 64 }], remote });
const datagram = (bob, length, remote) => {
  const ah = pd.createAh({ portNum: 1, grh: { dgid: ctx.queryGid(1, 0), sgidIndex: 0 } });
  return send(length, { ah, remoteQpn: bob.qpNum, remoteQkey: 0x1111, ...remote });
};

const mistakes = {
  'no-port': () => make(QpType.RC).modify({ qpState: QpState.INIT, pkeyIndex: 0, qpAccessFlags: 0 }),
  'no-address': () => {
    const qp = make(QpType.RC);
    qp.init();
    qp.modify({
      qpState: QpState.RTR,
      pathMtu: Mtu.MTU_256,
      destQpNum: 17,
      rqPsn: 0,
      maxDestRdAtomic: 1,
      minRnrTimer: 1,
    });
  },
  'reset-to-rtr': () => make(QpType.RC).modify({ qpState: QpState.RTR }),
  'queue-pair-access': async () => {
    const [alice] = connected({ access: LOCAL_WRITE });
    await alice.send(write(mr.remote()));
  },
  'region-access': async () => {
    const [alice] = connected({ access: LOCAL_WRITE | REMOTE_WRITE });
    await alice.send(write(pd.allocMr(64, LOCAL_WRITE).remote()));
  },
  'short-receive': async () => {
    const [alice, bob] = connected();
    bob.recv({ sgList: [{ mr, length: 16 }] }).catch(() => undefined);
    await alice.send(send(64));
  },
  'no-receive': async () => {
    const [alice] = connected({ rnrRetry: 0 });
    await alice.send(send(64));
  },
  'wrong-qkey': async () => {
    const [alice, bob] = datagrams();
    bob.postRecv({ sgList: [{ mr, length: 104 }] });
    await alice.send(datagram(bob, 64, { remoteQkey: 0x2222 }));
    await sleep(50);
  },
  'no-room': async () => {
    const [alice, bob] = datagrams();
    const received = bob.recv({ sgList: [{ mr, length: 64 }] });
    await alice.send(datagram(bob, 64));
    await received;
  },
  'unknown-queue-pair': async () => {
    const [alice, bob] = datagrams();
    await alice.send(datagram(bob, 64, { remoteQpn: 0xabcdef }));
    await sleep(50);
  },
  'post-in-init': () => {
    const qp = make(QpType.RC);
    qp.init();
    qp.postSend(send(8));
  },
  'long-inline': () => connected()[0].postSend(send(300, { sendFlags: SendFlags.INLINE })),
};

try {
  await mistakes[process.argv[2]]();
} catch (error) {
  console.log(error.message);
  process.exitCode = 3;
}
ctx.close();
