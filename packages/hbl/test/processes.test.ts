// Encapsulated traffic between two processes: over sockets of the loopback interface.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { SendFlags, WcStatus, WrOpcode } from '@verbs/core';
import { configure } from '@verbs/soft';
import { afterEach, expect, it } from 'vitest';
import { createEncap, EncapType, modifyQp, QpCaps } from '../src/index.js';
import { completion, end, open, toInit, toRtr, toRts } from './helpers/devices.js';

const PROGRAM = fileURLToPath(new URL('programs/tunnel-end.mjs', import.meta.url));
const TEXT = 'from process to process';
const device = (address: string) => `hbl_0,kind=hbl,ports=1,link=udp,addr=${address}`;
const vxlan = { portNum: 1, encapType: EncapType.ENC_OVER_UDP, udpDstPort: 4789 } as const;
const HEADER = [0x08, 0, 0, 0, 0, 0, 42, 0];

let child: ChildProcess | undefined;
afterEach(async () => {
  if (child?.exitCode === null) {
    const gone = once(child, 'exit');
    child.kill();
    await gone;
  }
});

/** The child's next message; rejects if it ends instead. */
async function answer<T>(process: ChildProcess): Promise<T> {
  const over = new AbortController();
  try {
    const ended = once(process, 'exit', over).then(([code]) => {
      throw new Error(`the far end ended with ${String(code)}`);
    });
    const [message] = (await Promise.race([once(process, 'message', over), ended])) as [T];
    return message;
  } finally {
    over.abort();
  }
}

it.each([
  ['arrives where both processes have the encapsulation', true, 'SUCCESS', TEXT],
  ['does not arrive where the far one has none', false, 'RETRY_EXC_ERR', '\0'.repeat(TEXT.length)],
] as const)('VXLAN: a WRITE %s', async (_, both, status, text) => {
  const far = fork(PROGRAM, { env: { ...process.env, VERBS_SOFT: device('127.0.7.62') } });
  child = far;
  const { gid, qpNum, addr, rkey } = await answer<{ gid: string; qpNum: number; addr: string; rkey: number }>(far);

  configure(device('127.0.7.61'));
  const near = end(open('hbl_0', 'default'));
  const connected = answer(far);
  const peer = { gid: near.ctx.queryGid(1, 0), qpNum: near.qp.qpNum };
  far.send({ peer, ...(both && { encap: { ...vxlan, header: HEADER } }) });
  await connected;

  const { encapNum } = createEncap(near.ctx, { ...vxlan, header: Uint8Array.from(HEADER) });
  const use = { caps: QpCaps.ENCAP, encapNum };
  const ahAttr = { portNum: 1, grh: { dgid: gid, sgidIndex: 0, hopLimit: 64 } };
  modifyQp(near.qp, toInit());
  modifyQp(near.qp, { ...toRtr(near), destQpNum: qpNum, ahAttr }, use);
  // With both ends in place the patience is for a machine that is busy.
  modifyQp(near.qp, { ...toRts(), ...(both && { timeout: 17, retryCnt: 7 }) }, use);

  near.mr.bytes.set(new TextEncoder().encode(TEXT));
  near.qp.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: SendFlags.SIGNALED,
    sgList: [{ mr: near.mr, length: TEXT.length }],
    remoteAddr: BigInt(addr),
    rkey,
  });
  expect((await completion(near.cq)).status).toBe(WcStatus[status]);
  const reading = answer<{ text: string }>(far);
  far.send({ read: TEXT.length });
  expect((await reading).text).toBe(text);
});
