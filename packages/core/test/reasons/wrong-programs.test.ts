import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { run } from '../helpers/program.js';

// Twelve programs, each with a mistake that people make, and the sentence that each must get.

// Below the package, so that they find it under its own name.
const folder = fileURLToPath(new URL('../../build/wrong/', import.meta.url));
mkdirSync(folder, { recursive: true });
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const BEFORE = `
import { AccessFlags, openDevice, QpState, QpType, QueuePair, SendFlags, WrOpcode } from '@verbs/core';
const ctx = openDevice('soft0');
const pd = ctx.allocPd();
const cq = ctx.createCq(16);
const mr = pd.allocMr(4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
const make = (qpType = QpType.RC) => pd.createQp({ qpType, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4 } });
const [alice, bob] = [make(), make()];
const connect = (options = {}) => { alice.connect(bob.endpoint(), options); bob.connect(alice.endpoint(), options); };
`;

const wrong: [mistake: string, program: string, sentence: string][] = [
  [
    'a step without a field',
    'alice.modify({ qpState: QpState.INIT, pkeyIndex: 0, qpAccessFlags: 0 });',
    'attr.portNum is missing: for the step from RESET to INIT, RC needs pkeyIndex, portNum and qpAccessFlags',
  ],
  ['a state left out', 'alice.modify({ qpState: QpState.RTR });', 'INIT comes before RTR: init() first'],
  ['a second connect', 'connect(); connect();', 'the queue pair is in RTS already: a queue pair is connected once'],
  ['a port that is not there', 'alice.init({ portNum: 2 });', 'attr.portNum is 2, and the device has 1 port'],
  [
    'a send before the connection',
    'alice.postSend({ opcode: WrOpcode.SEND });',
    'the queue pair is in RESET and sends from RTS on',
  ],
  [
    'too much inline',
    'connect(); alice.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.INLINE, sgList: [{ mr }] });',
    'the message has 4096 bytes and SendFlags.INLINE, and the queue pair takes at most',
  ],
  ['an opcode in text', "connect(); alice.postSend({ opcode: 'SEND' });", 'wr.opcode must be WrOpcode.SEND'],
  [
    'a misspelt field',
    'connect(); alice.postSend({ opcode: WrOpcode.SEND, sglist: [{ mr }] });',
    'wr.sglist is not known here',
  ],
  [
    'a write to nowhere',
    'connect(); alice.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr }] });',
    'wr.remote must be a region of the peer',
  ],
  [
    'an atomic operation without its right',
    `connect(); await alice.send({ opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, add: 1, sgList: [{ mr, length: 8 }], remote: mr.remote() });`,
    'ATOMIC_FETCH_AND_ADD needs AccessFlags.REMOTE_ATOMIC in `access` of the queue pair there',
  ],
  [
    'a peer that posted no receive request',
    'connect({ rnrRetry: 1 }); await alice.send({ opcode: WrOpcode.SEND, sgList: [{ mr, length: 8 }] });',
    'of SEND (wrId 0) on queue pair 0xN: the peer posted no receive request',
  ],
  ['an object made by hand', 'new QueuePair();', 'a QueuePair is made by pd.createQp(attr)'],
];

it('there are twelve of them', () => {
  expect(wrong).toHaveLength(12);
});

it.each(wrong)('%s', async (mistake, program, sentence) => {
  const file = `${folder}${mistake.replaceAll(' ', '-')}.mjs`;
  writeFileSync(file, `${BEFORE}${program}\n`);
  const { code, stderr } = await run(file);
  // The number depends on who else is at the address.
  expect(stderr.replaceAll(/queue pair 0x[0-9a-f]+/g, 'queue pair 0xN')).toContain(sentence);
  expect(code).toBe(1);
});
