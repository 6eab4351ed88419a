import { describe, expect, it } from 'vitest';
import {
  AccessFlags,
  MwType,
  objectCounts,
  QpState,
  SendFlags,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../src/index.js';
import { collect, collectUntil } from '../shared/collect.js';
import { ALL_ACCESS, bench, pair, take } from '../helpers/devices.js';

const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, MW_BIND } = AccessFlags;
const { SIGNALED } = SendFlags;

describe('a memory window', () => {
  it('of type 1 opens a part of a region', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const region = b.pd.allocMr(4096, LOCAL_WRITE | MW_BIND);
    region.bytes.set(Buffer.from('through the window'));
    const mw = b.pd.allocMw();
    two.bindMw(mw, { wrId: 5, sendFlags: SIGNALED, bindInfo: { mr: region, length: 64, access: REMOTE_READ } });
    expect((await take(b.cq, 1))[0]).toMatchObject({ wrId: 5, ok: true, opcode: WcOpcode.BIND_MW });
    one.postSend({
      opcode: WrOpcode.RDMA_READ,
      sendFlags: SIGNALED,
      remoteAddr: region.addr + 12n,
      rkey: mw.rkey,
      sgList: [{ mr: b.mr, length: 6 }],
    });
    expect((await take(b.cq, 1))[0]?.ok).toBe(true);
    expect(Buffer.from(b.mr.bytes.subarray(0, 6)).toString()).toBe('window');
  });

  it('of type 2 is opened by a request and closed by the peer', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const region = b.pd.allocMr(4096, ALL_ACCESS | MW_BIND);
    const mw = b.pd.allocMw(MwType.TYPE_2);
    const rkey = mw.nextRkey();
    const before = mw.rkey;
    expect(before).not.toBe(rkey);
    const bindInfo = { mr: region, offset: 1024, length: 512, access: REMOTE_WRITE };
    expect(() => {
      one.postSend({ opcode: WrOpcode.BIND_MW, mw, rkey, bindInfo: { ...bindInfo, length: 1 << 20 } });
    }).toThrow(/past the end/);
    expect(mw.rkey).toBe(before); // nothing was posted
    two.postSend({ wrId: 1, opcode: WrOpcode.BIND_MW, sendFlags: SIGNALED, mw, rkey, bindInfo });
    expect(mw.rkey).toBe(rkey);
    expect((await take(b.cq, 1))[0]).toMatchObject({ ok: true, opcode: WcOpcode.BIND_MW });
    b.mr.bytes.set(Buffer.from('written'));
    const write = {
      opcode: WrOpcode.RDMA_WRITE,
      sendFlags: SIGNALED,
      remoteAddr: region.addr + 1024n,
      rkey,
      sgList: [{ mr: b.mr, length: 7 }],
    };
    one.postSend(write);
    expect((await take(b.cq, 1))[0]?.ok).toBe(true);
    expect(Buffer.from(region.bytes.subarray(1024, 1031)).toString()).toBe('written');
    two.postRecv({ wrId: 9 });
    one.postSend({ opcode: WrOpcode.SEND_WITH_INV, sendFlags: SIGNALED, invalidateRkey: rkey });
    const list = await take(b.cq, 2);
    expect(list.find(({ opcode }) => opcode === WcOpcode.RECV)).toMatchObject({ ok: true, invalidatedRkey: rkey });
    one.postSend(write);
    expect((await take(b.cq, 1))[0]?.statusName).toBe('REM_ACCESS_ERR');
  });

  it('goes before the region that it opens, whatever was made first', async () => {
    const b = bench();
    const [, two] = pair(b);
    const mw = b.pd.allocMw();
    const region = b.pd.allocMr(4096, LOCAL_WRITE | MW_BIND);
    two.bindMw(mw, { sendFlags: SIGNALED, bindInfo: { mr: region, access: REMOTE_READ } });
    expect((await take(b.cq, 1))[0]?.ok).toBe(true);
    b.ctx.close();
    expect([mw.closed, region.closed]).toEqual([true, true]);
  });

  it('refuses what is none', () => {
    const b = bench();
    const [one] = pair(b);
    const mw = b.pd.allocMw();
    // @ts-expect-error there is no such type of windows
    expect(() => b.pd.allocMw(3)).toThrow(/^type must be an integer from 1 to 2/);
    expect(() => {
      one.bindMw({} as never, { bindInfo: {} });
    }).toThrow(/^bind\.mw must be a MemoryWindow/);
    expect(() => {
      one.bindMw(mw, { bindInfo: { mr: b.mr, offset: 65536, length: 1 } });
    }).toThrow(/past the end/);
    mw.close();
    expect(() => {
      one.bindMw(mw, { bindInfo: {} });
    }).toThrow(/closed/);
  });

  it('keeps the memory of a region that it is still bound to, whatever was tried since', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const mw = b.pd.allocMw();
    const bind = async () => {
      const region = b.pd.allocMr(4096, LOCAL_WRITE | MW_BIND);
      two.bindMw(mw, { sendFlags: SIGNALED, bindInfo: { mr: region, length: 64, access: REMOTE_WRITE } });
      await take(b.cq, 1);
      return { addr: region.addr, rkey: mw.rkey };
    };
    const { addr, rkey } = await bind();
    const other = b.pd.allocMr(4096, LOCAL_WRITE | MW_BIND);
    two.modify({ qpState: QpState.ERR });
    // Flushed: the window is where it was.
    two.bindMw(mw, { sendFlags: SIGNALED, bindInfo: { mr: other, length: 64, access: REMOTE_WRITE } });
    expect((await take(b.cq, 1))[0]?.status).toBe(WcStatus.WR_FLUSH_ERR);
    for (let i = 0; i < 10; i++) await collect();
    // A peer can still reach it, and the memory has no other use.
    const gid = b.ctx.defaultGid().gid;
    two.modify({ qpState: QpState.RESET });
    two.connect({ remote: { qpNum: one.qpNum, gid }, access: ALL_ACCESS });
    one.modify({ qpState: QpState.RESET });
    one.connect({ remote: { qpNum: two.qpNum, gid } });
    const write = { opcode: WrOpcode.RDMA_WRITE, sendFlags: SIGNALED, remoteAddr: addr, rkey } as const;
    one.postSend({ ...write, sgList: [{ mr: b.mr, length: 8 }] });
    expect((await take(b.cq, 1))[0]?.status).toBe(WcStatus.SUCCESS);
    // The next bind releases the closed regions.
    const kept = objectCounts()['MemoryRegion'] ?? 0;
    for (let i = 0; i < 20; i++) {
      using region = b.pd.allocMr(4096, LOCAL_WRITE | MW_BIND);
      two.bindMw(mw, { sendFlags: SIGNALED, bindInfo: { mr: region, length: 64, access: REMOTE_WRITE } });
      await take(b.cq, 1);
      two.bindMw(mw, { sendFlags: SIGNALED, bindInfo: { mr: other, length: 64, access: REMOTE_WRITE } });
      await take(b.cq, 1);
    }
    expect(await collectUntil(() => (objectCounts()['MemoryRegion'] ?? 0) <= kept + 1)).toBe(true);
    b.ctx.close();
  });
});
