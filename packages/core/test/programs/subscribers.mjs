// Every subscriber throws: the verbs go on, and Node.js reports each error as uncaught. Both copies of the package are
// loaded. Nothing is closed: a subscriber does not keep the process alive.
import { createRequire } from 'node:module';
import { subscribe } from 'node:diagnostics_channel';
import * as esm from '../../dist/index.js';

const cjs = createRequire(import.meta.url)('../../dist/index.cjs');
const names = [
  'object:open',
  'mr:register',
  'qp:state',
  'post:error',
  'completion:error',
  'device:event',
  'library:load',
];
for (const name of names) {
  subscribe(`verbs:${name}`, () => {
    throw new Error(`verbs:${name}`);
  });
}
const uncaught = [];
process.on('uncaughtException', ({ message }) => uncaught.push(message));

const results = [];
for (const { openDevice, QpState, QpType, WrOpcode } of [esm, cjs]) {
  const ctx = openDevice('soft0');
  const pd = ctx.allocPd();
  const mr = pd.allocMr(64, 1);
  const cq = ctx.createCq(4, { channel: null });
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
  try {
    qp.postSend({ opcode: WrOpcode.SEND, sgList: [{ mr }] });
  } catch ({ code }) {
    results.push(code);
  }
  qp.modify({ qpState: QpState.ERR });
  qp.postRecv({ wrId: 5, sgList: [{ mr }] });
  results.push(cq.poll().map((wc) => wc.statusName));
}
process.on('exit', () => {
  const counts = Object.fromEntries(names.map((name) => [name, uncaught.filter((text) => text.endsWith(name)).length]));
  console.log(JSON.stringify({ results, counts }));
});
