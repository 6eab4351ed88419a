// The starting PSN of a message is the one that its receiver sends with: the kernel's peers rely on it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, expect, it } from 'vitest';
import { pair, send } from './helpers/connections.js';

const folder = mkdtempSync(join(tmpdir(), 'verbs-psn-'));
const file = join(folder, 'wire.pcapng');
process.env['VERBS_SOFT'] = `soft0,capture=${file}`;

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const [REQ, REP] = [0x0010, 0x0013];

/** The starting PSN of the first message of that kind: a management datagram of the class of the connection manager. */
function announced(frames: Buffer, attribute: number): number {
  const header = Buffer.from('01070203', 'hex');
  for (let at = frames.indexOf(header); at !== -1; at = frames.indexOf(header, at + 1)) {
    if (frames.readUInt16BE(at + 16) === attribute)
      return frames.readUIntBE(at + 24 + (attribute === REQ ? 44 : 20), 3);
  }
  throw new Error(`no message ${attribute}`);
}

/** The PSN of the first SEND to a queue pair. */
function sent(frames: Buffer, qpNum: number): number {
  const SEND_ONLY = 0x04;
  const to = Buffer.from([0xff, 0xff, 0, qpNum >> 16, (qpNum >> 8) & 255, qpNum & 255]);
  for (let at = frames.indexOf(to); at !== -1; at = frames.indexOf(to, at + 1)) {
    if (frames[at - 2] === SEND_ONLY) return frames.readUIntBE(at + 7, 3);
  }
  throw new Error(`no packet to ${qpNum}`);
}

it('each end sends with the PSN that the other one has announced', async () => {
  const [one, other] = await pair();
  await send(one, other, 'there');
  await send(other, one, 'back');
  const qpNums = [one.qp.qpNum, other.qp.qpNum] as const;
  await one.disconnect();
  await expect.poll(() => sent(readFileSync(file), qpNums[0])).toBe(announced(readFileSync(file), REQ));
  expect(sent(readFileSync(file), qpNums[1])).toBe(announced(readFileSync(file), REP));
});
