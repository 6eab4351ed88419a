import { describe, expect, it } from 'vitest';
import { AccessFlags, MrAdvice, MrAdviceFlags, SendFlags, WrOpcode } from '../../src/index.js';
import { bench, pair, take } from '../helpers/devices.js';

const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, ON_DEMAND, ZERO_BASED } = AccessFlags;

/** What a RDMA READ of the peer gives, or the completion's status. */
async function read(b: ReturnType<typeof bench>, remoteAddr: bigint, rkey: number, length: number): Promise<string> {
  const [one] = pair(b);
  const target = b.pd.allocMr(4096, LOCAL_WRITE);
  one.postSend({
    opcode: WrOpcode.RDMA_READ,
    sendFlags: SendFlags.SIGNALED,
    remoteAddr,
    rkey,
    sgList: [{ mr: target, length }],
  });
  const [wc] = await take(b.cq, 1);
  return wc?.ok === true ? Buffer.from(target.bytes.subarray(0, length)).toString() : (wc?.statusName ?? '');
}

describe('a region', () => {
  it('is reached by the address it was registered under', async () => {
    const b = bench();
    const mr = b.pd.allocMr(64, LOCAL_WRITE | REMOTE_READ, { iova: 0x10000n });
    mr.bytes.set(Buffer.from('by iova'));
    expect(mr.addr).toBe(0x10000n);
    expect(await read(b, 0x10000n, mr.rkey, 7)).toBe('by iova');
    expect(() => b.pd.allocMr(64, LOCAL_WRITE, { iova: 0x10008n })).toThrow(
      /EINVAL.*an iova needs the offset in its page/,
    );
    const zero = b.pd.regMr(mr.bytes, LOCAL_WRITE | REMOTE_READ | ZERO_BASED);
    expect(zero.addr).toBe(0n);
    expect(await read(b, 3n, zero.rkey, 4)).toBe('iova');
  });

  it('gets other rights', async () => {
    const b = bench();
    const mr = b.pd.allocMr(64, LOCAL_WRITE);
    mr.bytes.set(Buffer.from('now you see me'));
    expect(await read(b, mr.addr, mr.rkey, 3)).toBe('REM_ACCESS_ERR');
    mr.rereg({ access: LOCAL_WRITE | REMOTE_READ });
    expect(mr.access).toBe(LOCAL_WRITE | REMOTE_READ);
    expect(await read(b, mr.addr, mr.rkey, 3)).toBe('now');
  });

  it('gets other memory, and another protection domain', async () => {
    const b = bench();
    const other = b.ctx.allocPd();
    const memory = b.pd.allocMr(64, LOCAL_WRITE);
    memory.bytes.set(Buffer.from('elsewhere'));
    const mr = other.allocMr(16, LOCAL_WRITE | REMOTE_READ);
    mr.rereg({ view: memory.bytes, pd: b.pd });
    expect(mr.length).toBe(64);
    expect(mr.pd).toBe(b.pd);
    // It is no child of the old one any more.
    other.close();
    expect(mr.closed).toBe(false);
    expect(await read(b, mr.addr, mr.rkey, 9)).toBe('elsewhere');
  });

  it('stays a child of a protection domain that it is given again', () => {
    const { ctx } = bench();
    const pd = ctx.allocPd();
    const mr = pd.allocMr(64, LOCAL_WRITE);
    mr.rereg({ pd });
    pd.close();
    expect(mr.closed).toBe(true);
  });

  it('refuses a change that is none', () => {
    const { pd } = bench();
    const mr = pd.allocMr(16, LOCAL_WRITE);
    expect(() => {
      mr.rereg({});
    }).toThrow(/changes nothing/);
    expect(() => {
      mr.rereg({ acess: 1 } as object);
    }).toThrow(/^attr\.acess is not known/);
  });

  it('is lost, and closed, when the device could not change it', () => {
    const { pd } = bench();
    const mr = pd.allocMr(16, LOCAL_WRITE);
    expect(() => {
      mr.rereg({ access: REMOTE_WRITE });
    }).toThrow(expect.objectContaining({ code: 'EINVAL', syscall: 'ibv_rereg_mr' }));
    expect(mr.closed).toBe(true);
  });

  it('of nothing reads as zeros and swallows what is written', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const nothing = b.pd.allocNullMr();
    b.mr.bytes.fill(0xff, 0, 16);
    two.postRecv({
      sgList: [
        { mr: nothing, length: 4 },
        { mr: b.mr, length: 4 },
      ],
    });
    one.postSend({
      opcode: WrOpcode.SEND,
      sendFlags: SendFlags.SIGNALED,
      sgList: [
        { mr: b.mr, offset: 8, length: 4 },
        { mr: nothing, length: 4 },
      ],
    });
    expect((await take(b.cq, 2)).every(({ ok }) => ok)).toBe(true);
    expect([...b.mr.bytes.subarray(0, 8)]).toEqual([0, 0, 0, 0, 255, 255, 255, 255]);
  });

  it('on demand takes advice', () => {
    const { pd } = bench();
    const mr = pd.allocMr(8192, LOCAL_WRITE | ON_DEMAND);
    pd.adviseMr(MrAdvice.PREFETCH_WRITE, [{ mr, offset: 4096 }], MrAdviceFlags.FLUSH);
    expect(() => {
      pd.adviseMr(MrAdvice.PREFETCH, [{ mr, offset: 8000, length: 4096 }]);
    }).toThrow(/EINVAL/);
    expect(() => {
      pd.adviseMr(MrAdvice.PREFETCH, [{ mr: {} as never }]);
    }).toThrow(/^sgList\[0\]\.mr must be a MemoryRegion/);
  });

  it('of a dma-buf is refused by name where there is none', () => {
    const { pd } = bench();
    expect(() => pd.regDmabufMr(0, LOCAL_WRITE, { length: 4096 })).toThrow(
      expect.objectContaining({ code: 'EOPNOTSUPP', syscall: 'ibv_reg_dmabuf_mr' }),
    );
  });
});

describe('device memory', () => {
  it('is copied to and from, and reached by a peer', async () => {
    const b = bench();
    const dm = b.ctx.allocDm(4096);
    dm.copyTo(100, Buffer.from('on the device ..'));
    const back = new Uint8Array(16);
    dm.copyFrom(100, back);
    expect(Buffer.from(back).toString()).toBe('on the device ..');
    const mr = b.pd.regDmMr(dm, LOCAL_WRITE | REMOTE_READ);
    expect(await read(b, 107n, mr.rkey, 6)).toBe('device');
  });

  it('has an end', () => {
    const { ctx, pd } = bench();
    const dm = ctx.allocDm(64);
    expect(() => {
      dm.copyTo(60, new Uint8Array(8));
    }).toThrow(/EINVAL.*of 8 bytes at 60 of 64/);
    expect(() => {
      dm.copyTo(1, new Uint8Array(4));
    }).toThrow(/EINVAL.*multiples of 4/);
    expect(() => {
      dm.copyFrom(-1, new Uint8Array(8));
    }).toThrow(RangeError);
    expect(() => pd.regDmMr(dm, LOCAL_WRITE, { offset: 32, length: 64 })).toThrow(/EINVAL/);
    expect(() => ctx.allocDm(Number.MAX_SAFE_INTEGER)).toThrow(/ibv_alloc_dm/);
  });

  it('closes its regions first', () => {
    const { ctx, pd } = bench();
    const dm = ctx.allocDm(64);
    const mr = pd.regDmMr(dm, LOCAL_WRITE);
    dm.close();
    expect(mr.closed).toBe(true);
  });
});
