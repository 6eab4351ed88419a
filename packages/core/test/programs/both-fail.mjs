// A request and the one that it waits for both fail, within a try block: the process must go on. `node both-fail.mjs WAY`
import { AccessFlags, openDevice, QpType, receiver, WrOpcode } from '@verbs/core';

const ctx = openDevice();
const pd = ctx.allocPd();
const cq = ctx.createCq(16);
const attr = { qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4 } };
const [alice, bob] = [pd.createQp(attr), pd.createQp(attr)];
alice.connect(bob.endpoint());
bob.connect(alice.endpoint());
const mr = pd.allocMr(64, AccessFlags.LOCAL_WRITE);
const message = { opcode: WrOpcode.SEND, sgList: [{ mr, length: 32 }] };

const ways = {
  // The message is too long for the receive request: both ends fail, each for a reason of its own.
  length: () => [bob.recv({ sgList: [{ mr, length: 8 }] }), () => alice.send(message)],
  // The request of the second queue pair never completes; leaving the block closes everything.
  closed: () => [bob.recv({ sgList: [{ mr }] }), () => alice.send({ ...message, sgList: [{ mr, length: 65 }] })],
  // The wait's own signal ends it when the program is somewhere else already.
  aborted: () => [
    bob.recv({ sgList: [{ mr }] }, { signal: AbortSignal.timeout(20) }),
    () => alice.send({ ...message, sgList: [{ mr, length: 65 }] }),
  ],
  // The request itself is wrong.
  argument: () => {
    bob.postRecv({ sgList: [{ mr, length: 8 }] });
    return [bob.recv({ sgList: [{ mr, length: 65 }] }), () => alice.send(message)];
  },
  // A later request is flushed because the first one failed.
  flushed: () => {
    bob.postRecv({ sgList: [{ mr, length: 8 }] });
    const first = alice.send(message);
    return [alice.send(message), () => first];
  },
  // Others that wait before they send.
  next: () => [receiver(bob, { size: 8 }).next(), () => alice.send(message)],
  wait: () => [
    cq.wait({ signal: AbortSignal.timeout(20) }),
    () => alice.send({ ...message, sgList: [{ mr, length: 65 }] }),
  ],
};

try {
  const [received, send] = ways[process.argv[2]]();
  await send();
  await received;
  console.log('nothing failed');
} catch (error) {
  console.log(`caught ${error.code ?? error.name}`);
}
const wait = new Promise((resolve) => setTimeout(resolve, 100));
if (process.argv[2] === 'closed') ctx.close();
await wait;
console.log('goes on');
ctx.close();
