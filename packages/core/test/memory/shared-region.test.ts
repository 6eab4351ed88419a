import { addDevices, softNic } from '@verbs/soft';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  AccessFlags,
  Mtu,
  openDevice,
  QpType,
  SendFlags,
  WrOpcode,
  type Context,
  type MemoryRegion,
  type QueuePair,
} from '../../src/index.js';
import { ALL_ACCESS, bench, pair, take } from '../helpers/devices.js';

const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, ON_DEMAND } = AccessFlags;
const SIZE = 1 << 20;

/** How often this process has memory files of allocMr mapped. */
const mappings = () =>
  readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .filter((line) => line.includes('memfd:verbs ')).length;

type Rdma = typeof WrOpcode.RDMA_WRITE | typeof WrOpcode.RDMA_READ;

const request = <Opcode extends Rdma>(opcode: Opcode, local: MemoryRegion, remote: MemoryRegion) => ({
  wrId: 1,
  opcode,
  sendFlags: SendFlags.SIGNALED,
  remoteAddr: remote.addr,
  rkey: remote.rkey,
  sgList: [{ mr: local }],
});

const run = promisify(execFile);

describe('allocMr of shared memory', () => {
  it('is an error beyond the limit of a file, not the end of the process', async () => {
    const program = `
      import { AccessFlags, openDevice } from '@verbs/core';
      const ctx = openDevice('soft0');
      const pd = ctx.allocPd();
      const attempt = (options) => {
        try {
          return pd.allocMr(${SIZE}, AccessFlags.LOCAL_WRITE, options).length;
        } catch (error) {
          return error.message;
        }
      };
      console.log(JSON.stringify([attempt({}), attempt({ shared: true })]));`;
    const args = ['--fsize=65536', '--', process.execPath, '--input-type=module', '-e', program];
    const { stdout } = await run('prlimit', args, { cwd: import.meta.dirname });
    expect(JSON.parse(stdout)).toEqual([SIZE, expect.stringMatching(/^EFBIG: .*ulimit -f/)]);
  });

  it('gives zeroed, page-aligned memory that the device maps as well, and that stays readable', async () => {
    const b = bench();
    const [one] = pair(b);
    const before = mappings();
    const mr = b.pd.allocMr(5000, ALL_ACCESS, { shared: true });
    expect(mr.length).toBe(5000);
    expect(mr.addr & 0xfffn).toBe(0n);
    expect(mr.bytes.every((byte) => byte === 0)).toBe(true);
    expect(mappings() - before).toBe(2);
    b.mr.bytes.fill(7);
    one.postSend({ ...request(WrOpcode.RDMA_WRITE, b.mr, mr), sgList: [{ mr: b.mr, length: 5000 }] });
    expect((await take(b.cq, 1))[0]).toMatchObject({ ok: true });
    expect(mr.bytes.every((byte) => byte === 7)).toBe(true);
    expect(() => {
      mr.rereg({ access: LOCAL_WRITE });
    }).toThrow(/EINVAL/);
    const again = b.pd.regMr(mr.bytes.subarray(100, 200), LOCAL_WRITE);
    expect(again.addr - mr.addr).toBe(100n);
    again.close();
    mr.close();
    expect(mappings() - before).toBe(1);
    expect(mr.bytes[4999]).toBe(7);
  });

  it('takes another address, and is an ordinary registration where a file cannot have the rights', () => {
    const { pd } = bench();
    const before = mappings();
    expect(pd.allocMr(4096, LOCAL_WRITE, { shared: true, iova: 0x10000n }).addr).toBe(0x10000n);
    expect(mappings() - before).toBe(2);
    const onDemand = pd.allocMr(4096, LOCAL_WRITE | ON_DEMAND, { shared: true });
    expect(mappings() - before).toBe(3);
    onDemand.rereg({ access: LOCAL_WRITE });
    expect(() => pd.allocMr(4096, REMOTE_WRITE, { shared: true })).toThrow(/EINVAL.*LOCAL_WRITE/);
    expect(() => pd.allocMr(64, LOCAL_WRITE, { shared: true, iova: 0x10008n })).toThrow(/EINVAL/);
    expect(() => pd.allocMr(64, LOCAL_WRITE, { shared: 1 as never })).toThrow(/options\.shared must be a boolean/);
  });

  it('is copied from where the peer has it mapped', async () => {
    addDevices('left,link=shm;right,link=shm');
    const contexts = ['left', 'right'].map((name) => openDevice(name));
    const [left, right] = contexts.map((ctx: Context) => {
      const pd = ctx.allocPd();
      const cq = ctx.createCq(16);
      const cap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1 };
      return { ctx, pd, cq, qp: pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap }) };
    }) as [End, End];
    try {
      const connect = (own: End, peer: End) => {
        const remote = { qpNum: peer.qp.qpNum, gid: peer.ctx.defaultGid().gid, psn: 0 };
        own.qp.connect({ pathMtu: Mtu.MTU_4096, access: ALL_ACCESS, remote, psn: 0 });
      };
      connect(left, right);
      connect(right, left);
      const from = left.pd.allocMr(SIZE, LOCAL_WRITE | REMOTE_READ, { shared: true });
      const to = right.pd.allocMr(SIZE, LOCAL_WRITE | REMOTE_WRITE);
      for (let round = 1; round <= 3; ++round) {
        from.bytes.forEach((_, i) => (from.bytes[i] = round + i * 7));
        left.qp.postSend(request(WrOpcode.RDMA_WRITE, from, to));
        expect((await take(left.cq, 1))[0]).toMatchObject({ ok: true });
        expect(Buffer.compare(from.bytes, to.bytes)).toBe(0);
        to.bytes.fill(0);
        right.qp.postSend(request(WrOpcode.RDMA_READ, to, from));
        expect((await take(right.cq, 1))[0]).toMatchObject({ ok: true });
        expect(Buffer.compare(from.bytes, to.bytes)).toBe(0);
      }
      // 4 packets for each of the 3 WRITEs and 3 READs; the first look for a peer may be too early.
      expect(softNic('right').stats()['link_shm_mapped']).toBeGreaterThanOrEqual(16n);
    } finally {
      for (const ctx of contexts) ctx.close();
    }
  });
});

interface End {
  ctx: Context;
  pd: ReturnType<Context['allocPd']>;
  cq: ReturnType<Context['createCq']>;
  qp: QueuePair;
}
