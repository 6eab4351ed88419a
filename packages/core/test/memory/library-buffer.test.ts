import { describe, expect, it } from 'vitest';
import { AccessFlags, SendFlags, TphMemType, WrOpcode } from '../../src/index.js';
import { ALL_ACCESS, bench, pair, take } from '../helpers/devices.js';

const { LOCAL_WRITE, ON_DEMAND, REMOTE_READ, REMOTE_WRITE } = AccessFlags;

/** What a RDMA READ of the region gives. */
async function read(b: ReturnType<typeof bench>, remoteAddr: bigint, rkey: number, length: number): Promise<string> {
  const [one] = pair(b);
  const target = b.pd.allocMr(4096, LOCAL_WRITE);
  const sgList = [{ mr: target, length }];
  one.postSend({ opcode: WrOpcode.RDMA_READ, sendFlags: SendFlags.SIGNALED, remoteAddr, rkey, sgList });
  const [wc] = await take(b.cq, 1);
  return wc?.ok === true ? Buffer.from(target.bytes.subarray(0, length)).toString() : (wc?.statusName ?? '');
}

describe("a library's buffer", () => {
  it('is copied to and from, sent from, received into and reached by a peer', async () => {
    const b = bench();
    const buf = b.pd.allocBuf(10_000);
    expect(buf.length).toBe(10_000);
    buf.copyTo(5000, Buffer.from('of the library'));
    const mr = b.pd.regBufMr(buf, ALL_ACCESS);
    expect([mr.length, mr.bytes.byteLength, mr.pd]).toEqual([10_000, 0, b.pd]);
    expect(await read(b, mr.addr + 5000n, mr.rkey, 14)).toBe('of the library');
    const [one, two] = pair(b);
    const part = b.pd.regBufMr(buf, LOCAL_WRITE, { offset: 4096, length: 64 });
    expect(part.addr).toBe(mr.addr + 4096n);
    two.postRecv({ sgList: [{ mr: part, length: 64 }] });
    one.postSend({
      opcode: WrOpcode.SEND,
      sendFlags: SendFlags.SIGNALED,
      sgList: [{ mr, offset: 5003, length: 11 }],
    });
    expect((await take(b.cq, 2)).every(({ ok }) => ok)).toBe(true);
    const back = new Uint8Array(11);
    buf.copyFrom(4096, back);
    expect(Buffer.from(back).toString()).toBe('the library');
  });

  it('has an end, and belongs to its protection domain', () => {
    const { ctx, pd } = bench();
    const buf = pd.allocBuf(64);
    expect(() => {
      buf.copyTo(60, new Uint8Array(8));
    }).toThrow(/EINVAL.*of 8 bytes at 60 of 64/);
    expect(() => {
      buf.copyFrom(-1, new Uint8Array(8));
    }).toThrow(RangeError);
    expect(() => {
      buf.copyFrom(0, [] as never);
    }).toThrow(/^to must be a Uint8Array/);
    expect(() => pd.regBufMr(buf, LOCAL_WRITE, { offset: 32, length: 64 })).toThrow(/EINVAL.*of 64 bytes at 32 of 64/);
    expect(() => ctx.allocPd().regBufMr(buf, LOCAL_WRITE)).toThrow(/EINVAL.*must be of this protection domain/);
    expect(() => pd.regBufMr(buf, REMOTE_WRITE)).toThrow(/EINVAL.*need LOCAL_WRITE/);
    expect(() => pd.allocBuf(0)).toThrow(RangeError);
    expect(() => pd.allocBuf(Number.MAX_SAFE_INTEGER)).toThrow(/ENOMEM.*ibv_alloc_buf of/);
    expect(() => buf.exportDmabufFd()).toThrow(/^ENODATA.*ordinary memory and no dma-buf/);
  });

  it('closes its regions first, and goes before its protection domain', () => {
    const { ctx } = bench();
    const pd = ctx.allocPd();
    const buf = pd.allocBuf(64);
    const mr = pd.regBufMr(buf, LOCAL_WRITE);
    buf.close();
    expect(mr.closed).toBe(true);
    expect(() => {
      buf.copyTo(0, new Uint8Array(1));
    }).toThrow(expect.objectContaining({ code: 'ERR_VERBS_CLOSED' }));
    const [other, another] = [pd.allocBuf(64), pd.allocBuf(64)];
    const last = pd.regBufMr(other, LOCAL_WRITE);
    pd.close();
    expect([other.closed, another.closed, last.closed]).toEqual([true, true, true]);
  });

  it('may come from a parent domain that allows memory without protection', () => {
    const { ctx, pd } = bench();
    const guest = pd.allocParentDomain({ td: ctx.allocTd(), allowCcUnprotectedAlloc: true });
    const buf = guest.allocBuf(64);
    expect(guest.regBufMr(buf, LOCAL_WRITE).length).toBe(64);
    expect(() => pd.regBufMr(buf, LOCAL_WRITE)).toThrow(/EINVAL/);
    expect(() => pd.allocParentDomain({ allowCcUnprotectedAlloc: 1 as never })).toThrow(
      /^attr\.allowCcUnprotectedAlloc must be a boolean/,
    );
  });
});

describe('ibv_reg_mr_ex', () => {
  it('registers memory, a buffer and a dma-buf', async () => {
    const b = bench();
    const memory = new Uint8Array(new SharedArrayBuffer(4096));
    memory.set(Buffer.from('shared memory'));
    const mr = b.pd.regMrEx({ view: memory, access: LOCAL_WRITE | REMOTE_READ });
    expect([mr.bytes, mr.length, mr.access]).toEqual([memory, 4096, LOCAL_WRITE | REMOTE_READ]);
    expect(await read(b, mr.addr, mr.rkey, 13)).toBe('shared memory');
    const moved = b.pd.regMrEx({
      view: memory,
      access: LOCAL_WRITE | REMOTE_READ,
      iova: 0x40_0000n + (mr.addr & 0xfffn),
    });
    expect(await read(b, moved.addr + 7n, moved.rkey, 6)).toBe('memory');

    const buf = b.pd.allocBuf(8192);
    buf.copyTo(4100, Buffer.from('in a buffer'));
    const part = b.pd.regMrEx({ buf, offset: 4096, length: 64, access: LOCAL_WRITE | REMOTE_READ });
    expect([part.length, part.bytes.byteLength]).toEqual([64, 0]);
    expect(await read(b, part.addr + 4n, part.rkey, 11)).toBe('in a buffer');
    buf.close();
    expect(part.closed).toBe(true);

    const dm = b.ctx.allocDm(4096);
    dm.copyTo(8, Buffer.from('on the device ..'));
    const gone = new Uint8Array(8);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    expect(() => {
      dm.copyTo(0, gone);
    }).toThrow('from is detached');
    expect(() => {
      dm.copyFrom(0, gone);
    }).toThrow('to is detached');
    const fd = dm.exportDmabufFd();
    const file = b.pd.regMrEx({ fd, length: 4096, access: LOCAL_WRITE | REMOTE_READ });
    expect(file.addr).toBe(0n);
    expect(await read(b, 8n, file.rkey, 13)).toBe('on the device');
  });

  it('takes hints for the bus, which stay as long as the region', async () => {
    const b = bench();
    const dmah = b.ctx.allocDmah({ ph: 2, cpuId: 0, tphMemType: TphMemType.VM });
    const view = new Uint8Array(new SharedArrayBuffer(64));
    view.set(Buffer.from('hinted'));
    const mr = b.pd.regMrEx({ view, access: LOCAL_WRITE | REMOTE_READ, dmah });
    expect(await read(b, mr.addr, mr.rkey, 6)).toBe('hinted');
    expect(() => b.pd.regMrEx({ view, access: LOCAL_WRITE | ON_DEMAND, dmah })).toThrow(/EINVAL.*hints do not go with/);
    mr.rereg({ access: LOCAL_WRITE });
    dmah.close();
    expect(mr.closed).toBe(true);
    expect(() => b.pd.regMrEx({ view, access: LOCAL_WRITE, dmah })).toThrow(/DmaHandle in attr\.dmah is closed/);
    b.ctx.allocDmah({ ph: 0 });
  });

  it('refuses hints that the kernel refuses', () => {
    const { ctx } = bench();
    for (const attr of [{}, { ph: 4 }, { ph: 1, cpuId: 0 }, { ph: 1, tphMemType: TphMemType.PM }]) {
      expect(() => ctx.allocDmah(attr)).toThrow(/^EINVAL.*ibv_alloc_dmah: give ph, 0 to 3/);
    }
    expect(() => ctx.allocDmah({ ph: 1, cpuId: 0xffffffff, tphMemType: TphMemType.VM })).toThrow(/^EINVAL/);
    expect(() => ctx.allocDmah({ ph: 256 })).toThrow(/^attr\.ph must be/);
  });

  it('refuses what does not fit, by name', () => {
    const { ctx, pd } = bench();
    const buf = pd.allocBuf(64);
    const view = new SharedArrayBuffer(64);
    const bad: [object, RegExp][] = [
      [{ access: LOCAL_WRITE }, /^attr needs one of view, buf and fd/],
      [{ access: LOCAL_WRITE, view, buf }, /^attr needs one of view, buf and fd/],
      [{ access: LOCAL_WRITE, view, offset: 4 }, /view\.subarray/],
      [{ access: LOCAL_WRITE, fd: 0 }, /^attr\.length must be/],
      [{ access: -1, view }, /^attr\.access must be/],
      [{ access: LOCAL_WRITE, view: new ArrayBuffer(0) }, /^attr\.view/],
      [{ access: LOCAL_WRITE, buf: {} }, /^attr\.buf must be a LibraryBuffer/],
      [{ access: LOCAL_WRITE, view, dmah: buf }, /^attr\.dmah must be a DmaHandle/],
      [{ access: LOCAL_WRITE, buf, offset: 60, length: 8 }, /^EINVAL.*ibv_reg_mr_ex of 8 bytes/],
      [{ access: LOCAL_WRITE, view, iovaa: 0n }, /^attr\.iovaa is not known/],
    ];
    for (const [attr, message] of bad) expect(() => pd.regMrEx(attr as never)).toThrow(message);
    const other = ctx.allocPd();
    expect(() => other.regMrEx({ access: LOCAL_WRITE, buf })).toThrow(/^EINVAL/);
  });
});
