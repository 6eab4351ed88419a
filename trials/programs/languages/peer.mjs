// README.md says what it does.
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { AccessFlags, Mtu, openDevice, QpType, SendFlags, WrOpcode } from '@verbs/core';

const SIZE = 1024;
const SENT = 1n << 32n;
const [self = 0, count = 0, sgidIndex = 0, rounds = 0] = process.argv.slice(2).map(Number);

/** @param {number} from @param {number} to @param {number} round */
function pattern(from, to, round) {
  return Uint8Array.from({ length: SIZE }, (_, i) => 31 * from + 17 * to + 7 * round + i);
}

class Connection {
  came = 0;

  /**
   * With memory for two messages that come, and one that goes.
   * @param {import('@verbs/core').ProtectionDomain} pd
   * @param {import('@verbs/core').CompletionQueue} cq
   * @param {number} peer
   */
  constructor(pd, cq, peer) {
    this.peer = peer;
    const cap = { maxSendWr: 2, maxRecvWr: 2, maxSendSge: 1, maxRecvSge: 1 };
    this.qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
    const region = () => pd.allocMr(SIZE, AccessFlags.LOCAL_WRITE);
    this.incoming = /** @type {const} */ ([region(), region()]);
    this.out = region();
  }

  /** @param {number} qpNum @param {string} gid */
  connect(qpNum, gid) {
    this.qp.init();
    for (const slot of /** @type {const} */ ([0, 1])) this.receive(slot);
    this.qp.connect({ remote: { qpNum, psn: 0, gid }, psn: 0, pathMtu: Mtu.MTU_1024, sgidIndex });
  }

  /** @param {0 | 1} slot */
  receive(slot) {
    this.qp.postRecv({ wrId: BigInt(this.peer), sgList: [{ mr: this.incoming[slot] }] });
  }

  /** @param {number} round */
  send(round) {
    this.out.bytes.set(pattern(self, this.peer, round));
    this.qp.postSend({
      wrId: SENT,
      opcode: WrOpcode.SEND,
      sendFlags: SendFlags.SIGNALED,
      sgList: [{ mr: this.out }],
    });
  }

  /** A message has come: checks it, and returns its round. */
  take() {
    const round = this.came++;
    const slot = round % 2 === 0 ? 0 : 1;
    const { bytes } = this.incoming[slot];
    if (pattern(this.peer, self, round).some((byte, i) => byte !== bytes[i])) throw new Error('a byte is wrong');
    this.receive(slot);
    return round;
  }
}

const context = openDevice();
const pd = context.allocPd();
const cq = context.createCq(4 * count);
const gid = context.queryGid(1, sgidIndex);
/** @type {Map<number, Connection>} */
const peers = new Map();
for (let peer = 0; peer < count; ++peer) if (peer !== self) peers.set(peer, new Connection(pd, cq, peer));
console.log('ready', gid, ...Array.from({ length: count }, (_, peer) => peers.get(peer)?.qp.qpNum ?? 0));

const lines = createInterface(process.stdin);
const [numbers] = /** @type {[string]} */ (await once(lines, 'line'));
const go = once(lines, 'line');
const end = once(lines, 'close');
const [, ...all] = numbers.split(' ').map(Number);
for (const [peer, connection] of peers) connection.connect(all[peer] ?? 0, gid);
console.log('connected');
await go;

let messages = 0;
const completions = cq[Symbol.asyncIterator]();
for (let round = 0; round < rounds; ++round) {
  // Completions: of what it sends, and of the messages of this round that have not come before.
  let awaited = 0;
  for (const connection of peers.values()) {
    connection.send(round);
    awaited += connection.came === round ? 2 : 1;
  }
  while (awaited > 0) {
    const { value: wc, done } = await completions.next();
    if (done === true) throw new Error('the completion queue is closed');
    if (!wc.ok) throw new Error(wc.statusText);
    if (wc.wrId === SENT) {
      --awaited;
      continue;
    }
    if (peers.get(Number(wc.wrId))?.take() === round) --awaited;
    ++messages;
  }
}
console.log('done', messages);
await end;
process.exit(0);
