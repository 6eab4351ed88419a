// Datagrams both ways: some are lost, but none that arrives is wrong.
import { AccessFlags, openDevice, QpType, receiver, WrOpcode } from '@verbs/core';
import { setTimeout } from 'node:timers/promises';
import { Latencies } from '../latencies.mjs';
import { Pattern } from '../pattern.mjs';
import { Tally } from '../tally.mjs';

const LONGEST = 1024;
const QKEY = 0x11111111;

export function openSide({ device, me, seed }) {
  const context = openDevice(device);
  const pd = context.allocPd();
  return { make: () => makeSide({ context, pd, me, pattern: new Pattern(seed) }), close: () => context.close() };
}

function makeSide({ context, pd, me, pattern }) {
  const cq = context.createCq(256, { channel: context.createCompChannel() });
  const cap = { maxSendWr: 16, maxRecvWr: 128, maxSendSge: 1, maxRecvSge: 1 };
  const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap });
  const mr = pd.allocMr(LONGEST, AccessFlags.LOCAL_WRITE);
  const [tally, latencies] = [new Tally(), new Latencies()];
  qp.activate({ qkey: QKEY });
  const incoming = receiver(qp, { slots: 128, size: LONGEST });
  let [ah, qpNum, stopped, closed, sent, arrived] = [undefined, 0, true, false, 0, 0];

  async function receiveAll() {
    for await (const { data } of incoming) {
      const number = Buffer.from(data.buffer, data.byteOffset).readUInt32LE(0);
      const expected = pattern.message(1 - me, number, LONGEST - 4);
      if (Buffer.compare(data.subarray(4), expected) === 0) tally.verified(data.length);
      else tally.wrong(`datagram ${number} has wrong bytes`);
      arrived++;
    }
  }

  async function sendAll() {
    while (!stopped) {
      const message = pattern.message(me, sent, LONGEST - 4);
      Buffer.from(mr.bytes.buffer, mr.bytes.byteOffset).writeUInt32LE(sent++, 0);
      mr.bytes.set(message, 4);
      const begin = performance.now();
      const remote = { ah, remoteQpn: qpNum, remoteQkey: QKEY };
      await qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr, length: message.length + 4 }], ...remote });
      latencies.add(performance.now() - begin);
      if (sent % 16 === 0) await setTimeout(1);
    }
  }

  const failed = (error) => closed || tally.error(error.code ?? error.message);
  let sending = Promise.resolve();
  return {
    endpoint: { gid: context.queryGid(1, 0), qpNum: qp.qpNum },
    connect(peer) {
      ah = pd.createAh({ portNum: 1, grh: { dgid: peer.gid } });
      qpNum = peer.qpNum;
      return {};
    },
    start() {
      stopped = false;
      receiveAll().catch(failed);
      sending = sendAll().catch(failed);
    },
    async stop() {
      stopped = true;
      await sending;
    },
    report: () => ({ ...tally.report(), messages: arrived, sent, pending: 0, latency: latencies.take() }),
    close() {
      closed = true;
      incoming.close();
      for (const object of [qp, cq, mr, ah]) object?.close();
    },
  };
}
