// Tagged buffers of a shared receive queue, which messages take by their tags.
import { describe, expect, it } from 'vitest';
import {
  decodeTmh,
  encodeTmh,
  type MemoryRegion,
  Mtu,
  QpType,
  SendFlags,
  SrqType,
  type Tmh,
  TmhOp,
  WcExFlags,
  WcFlags,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../src/index.js';
import { ALL_ACCESS, bench, type Bench, take } from '../helpers/devices.js';

const STANDARD_WC = 0x7f;
const WHOLE = WcFlags.TM_MATCH | WcFlags.TM_DATA_VALID;

/** A queue of type TM with a queue pair, and one that sends to it. */
function matching(b: Bench = bench(), tagMatching = { maxTags: 4, maxOps: 4 }) {
  const cq = b.ctx.createCq(64, { channel: b.channel, wcFlags: (STANDARD_WC | WcExFlags.TM_INFO) as WcExFlags });
  const srq = b.pd.createSrq({ maxWr: 8, srqType: SrqType.TM, cq, tagMatching });
  const base = { qpType: QpType.RC, sendCq: b.cq, recvCq: b.cq };
  const sender = b.pd.createQp({ ...base, cap: { maxSendWr: 16, maxRecvWr: 4 } });
  const target = b.pd.createQp({ ...base, cap: { maxSendWr: 0, maxRecvWr: 0 }, srq });
  const gid = b.ctx.defaultGid().gid;
  sender.connect({ remote: { qpNum: target.qpNum, gid }, pathMtu: Mtu.MTU_1024, access: ALL_ACCESS });
  target.connect({ remote: { qpNum: sender.qpNum, gid }, pathMtu: Mtu.MTU_1024, access: ALL_ACCESS });
  const bytes = (mr: MemoryRegion, offset: number, length: number) => new Uint8Array(mr.buffer, offset, length);
  /** A message of the header and `text`, from the start of the region. */
  const send = async (header: Tmh, text = '', statuses: WcStatus[] = [WcStatus.SUCCESS]) => {
    const head = encodeTmh(header);
    bytes(b.mr, 0, head.length).set(head);
    bytes(b.mr, head.length, text.length).set(Buffer.from(text));
    const sgList = [{ mr: b.mr, length: head.length + text.length }];
    sender.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList });
    expect(statuses).toContain((await take(b.cq, 1))[0]?.status);
  };
  const textAt = (offset: number, length: number) => Buffer.from(bytes(b.mr, offset, length)).toString();
  return { ...b, tagCq: cq, srq, sender, target, send, textAt };
}

describe('a shared receive queue of type TM', () => {
  it('gives a message to the buffer of its tag, without its header', async () => {
    const m = matching();
    expect(m.srq.tagMatching).toEqual({ maxTags: 4, maxOps: 4 });
    m.srq.addTag({ wrId: 1, tag: 7, sgList: [{ mr: m.mr, offset: 4096, length: 64 }] });
    m.srq.addTag({ wrId: 2n, tag: 0x1234n, mask: 0xffffn, sgList: [{ mr: m.mr, offset: 8192, length: 64 }] });
    await m.send({ opcode: TmhOp.EAGER, appCtx: 99, tag: 0xfedc_ba98_0000_1234n }, 'tagged');
    const [wc] = await take(m.tagCq, 1);
    expect(wc).toMatchObject({
      wrId: 2n,
      status: WcStatus.SUCCESS,
      opcode: WcOpcode.TM_RECV,
      wcFlags: WHOLE,
      byteLen: 6,
      tmInfo: { tag: 0xfedc_ba98_0000_1234n, priv: 99 },
      flowTag: 0,
      srcQp: 0,
    });
    expect(m.textAt(8192, 6)).toBe('tagged');
    expect(JSON.parse(JSON.stringify(wc))).toMatchObject({
      opcode: 'TM_RECV',
      tag: String(0xfedc_ba98_0000_1234n),
      priv: 99,
    });
  });

  it('completes a long message twice, and has room again after the second time', async () => {
    const m = matching(bench(), { maxTags: 1, maxOps: 1 });
    const wr = { wrId: 1, tag: 7, sgList: [{ mr: m.mr, offset: 4096, length: 8192 }] };
    for (let round = 0; round < 3; round++) {
      m.srq.addTag(wr);
      await m.send({ opcode: TmhOp.EAGER, tag: 7n }, 'x'.repeat(3000));
      const [match, data] = await take(m.tagCq, 2);
      expect(match).toMatchObject({ wrId: 1, wcFlags: WcFlags.TM_MATCH, tmInfo: { tag: 7n } });
      expect(data).toMatchObject({ wrId: 1, wcFlags: WcFlags.TM_DATA_VALID, byteLen: 3000, tmInfo: undefined });
    }
  });

  it('reads the data of a rendezvous itself, and tells its sender', async () => {
    const m = matching();
    m.srq.addTag({ wrId: 5, tag: 7, sgList: [{ mr: m.mr, offset: 16384, length: 5000 }] });
    m.sender.postRecv({ wrId: 6, sgList: [{ mr: m.mr, offset: 32768, length: 64 }] });
    Buffer.from(m.mr.buffer).fill('r', 4096, 4096 + 4000);
    await m.send({ opcode: TmhOp.RNDV, tag: 7n, rvh: { va: m.mr.addr + 4096n, rkey: m.mr.rkey, len: 4000 } });
    const [match, data] = await take(m.tagCq, 2);
    expect(match).toMatchObject({ wrId: 5, opcode: WcOpcode.TM_RECV, wcFlags: WcFlags.TM_MATCH });
    expect(data).toMatchObject({ wrId: 5, wcFlags: WcFlags.TM_DATA_VALID, byteLen: 4000 });
    expect(m.textAt(16384, 4000)).toBe('r'.repeat(4000));
    const [fin] = await take(m.cq, 1);
    expect(fin).toMatchObject({ wrId: 6, opcode: WcOpcode.RECV });
    expect(decodeTmh(new Uint8Array(m.mr.buffer, 32768, fin?.byteLen))).toMatchObject({
      opcode: TmhOp.FIN,
      tag: 7n,
      rvh: { len: 4000 },
    });
  });

  it('leaves a rendezvous to the program that does not fit', async () => {
    const m = matching();
    m.srq.addTag({ wrId: 5, tag: 7, sgList: [{ mr: m.mr, offset: 16384, length: 100 }] });
    await m.send({ opcode: TmhOp.RNDV, tag: 7n, rvh: { va: 1n, rkey: 2, len: 101 } });
    const [wc] = await take(m.tagCq, 1);
    expect(wc).toMatchObject({ wrId: 5, status: WcStatus.TM_RNDV_INCOMPLETE, wcFlags: WHOLE });
    expect(decodeTmh(new Uint8Array(m.mr.buffer, 16384, 32)).rvh).toEqual({ va: 1n, rkey: 2, len: 101 });
  });

  it('gives what no tag matches to a receive request, and waits for the count of such messages', async () => {
    const m = matching();
    m.srq.postRecv([1, 2].map((wrId) => ({ wrId, sgList: [{ mr: m.mr, offset: 4096, length: 256 }] })));
    await m.send({ opcode: TmhOp.EAGER, tag: 9n }, 'early');
    const [unexpected] = await take(m.tagCq, 1);
    expect(unexpected).toMatchObject({ wrId: 1, opcode: WcOpcode.TM_RECV, wcFlags: 0, tmInfo: undefined });
    expect(decodeTmh(new Uint8Array(m.mr.buffer, 4096, unexpected?.byteLen))).toEqual({
      opcode: TmhOp.EAGER,
      appCtx: 0,
      tag: 9n,
    });
    const sgList = [{ mr: m.mr, offset: 8192, length: 64 }];
    m.srq.addTag({ wrId: 3, tag: 9, sgList, signaled: true, unexpectedCnt: 0 });
    const [added] = await take(m.tagCq, 1);
    expect(added).toMatchObject({ wrId: 3, opcode: WcOpcode.TM_ADD, wcFlags: WcFlags.TM_SYNC_REQ });
    m.srq.syncTags(1, { wrId: 4n });
    const [synced] = await take(m.tagCq, 1);
    expect(synced).toMatchObject({ wrId: 4n, opcode: WcOpcode.TM_SYNC, wcFlags: 0 });
    await m.send({ opcode: TmhOp.EAGER, tag: 9n }, 'late');
    expect((await take(m.tagCq, 1))[0]).toMatchObject({ wrId: 3, wcFlags: WHOLE });
    await m.send({ opcode: TmhOp.NO_TAG });
    expect((await take(m.tagCq, 1))[0]).toMatchObject({ wrId: 2, opcode: WcOpcode.TM_NO_TAG, wcFlags: 0 });
  });

  it('takes a buffer out of the list, unless a message has it', async () => {
    const m = matching(bench(), { maxTags: 1, maxOps: 1 });
    const wr = { wrId: 1, tag: 7, sgList: [{ mr: m.mr, offset: 4096, length: 64 }] };
    const first = m.srq.addTag(wr);
    expect(() => m.srq.addTag(wr)).toThrow(expect.objectContaining({ code: 'ENOMEM', syscall: 'ibv_post_srq_ops' }));
    m.srq.deleteTag(first, { wrId: 2 });
    expect((await take(m.tagCq, 1))[0]).toMatchObject({ wrId: 2, opcode: WcOpcode.TM_DEL, status: WcStatus.SUCCESS });
    const second = m.srq.addTag(wr);
    await m.send({ opcode: TmhOp.EAGER, tag: 7n });
    m.srq.deleteTag(second, { wrId: 3 });
    expect(() => {
      m.srq.syncTags(0, { wrId: 4 });
    }).toThrow(expect.objectContaining({ code: 'ENOMEM' }));
    const list = await take(m.tagCq, 2);
    expect(list[0]).toMatchObject({ wrId: 1, opcode: WcOpcode.TM_RECV });
    expect(list[1]).toMatchObject({ wrId: 3, status: WcStatus.TM_ERR });
    expect(() => {
      m.srq.deleteTag(second);
    }).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });

  it('holds the memory of a buffer until its last completion', async () => {
    const m = matching();
    const mr = m.pd.allocMr(4096, ALL_ACCESS);
    const bytes = new Uint8Array(mr.buffer);
    m.srq.addTag({ wrId: 1, tag: 7, sgList: [{ mr, length: 4096 }] });
    mr.close();
    // Deregistered at once, or when the buffer is done: in no case is it another's memory by then.
    await m.send({ opcode: TmhOp.EAGER, tag: 7n }, 'held', [WcStatus.SUCCESS, WcStatus.REM_OP_ERR]);
    const [wc] = await take(m.tagCq, 1);
    expect([WcStatus.SUCCESS, WcStatus.LOC_PROT_ERR]).toContain(wc?.status);
    expect(wc?.wrId).toBe(1);
    expect(bytes.length).toBe(4096);
  });

  it("has queue pairs whose send queue is the device's own", () => {
    const m = matching();
    expect(() => {
      m.target.postSend({ opcode: WrOpcode.SEND, sgList: [{ mr: m.mr, length: 8 }] });
    }).toThrow(/^EINVAL: .*the send queue is the device's own, since srq matches tags: send on another queue pair/);
    const sends = { qpType: QpType.RC, sendCq: m.cq, recvCq: m.cq, srq: m.srq, cap: { maxSendWr: 1, maxRecvWr: 0 } };
    expect(() => m.pd.createQp(sends)).toThrow(
      /^EINVAL: .*attr\.srq is a shared receive queue of type TM, .* of RC with 1$/,
    );
  });

  it('refuses what cannot be, by the name of the field', () => {
    const b = bench();
    const m = matching(b);
    const basic = b.pd.createSrq({ maxWr: 4 });
    expect(() => basic.addTag({ tag: 1 })).toThrow(/EINVAL.*tagMatching/s);
    expect(() => {
      basic.syncTags(0);
    }).toThrow(/EINVAL.*tagMatching/s);
    expect(() => b.pd.createSrq({ maxWr: 4, srqType: SrqType.TM, cq: b.cq })).toThrow(
      expect.objectContaining({ code: 'EINVAL', syscall: 'ibv_create_srq_ex' }),
    );
    expect(() =>
      b.pd.createSrq({ maxWr: 4, srqType: SrqType.TM, cq: b.cq, tagMatching: { maxTags: 1 << 20, maxOps: 1 } }),
    ).toThrow(expect.objectContaining({ code: 'EINVAL' }));
    expect(() => m.srq.addTag({ tag: -1n })).toThrow(/wr\.tag/);
    expect(() => m.srq.addTag({ tag: 1, mask: 'x' as never })).toThrow(/wr\.mask/);
    expect(() => m.srq.addTag({ tag: 1, signaled: 1 as never })).toThrow(/wr\.signaled/);
    expect(() => m.srq.addTag({ tag: 1, tags: 1 } as never)).toThrow(/wr\.tags/);
    expect(() =>
      m.srq.addTag({
        tag: 1,
        sgList: [
          { mr: m.mr, length: 8 },
          { mr: m.mr, length: 8 },
        ],
      }),
    ).toThrow(/wr\.sgList/);
    expect(() => {
      m.srq.syncTags(-1);
    }).toThrow(/unexpectedCnt/);
    expect(() => {
      m.srq.deleteTag(1.5);
    }).toThrow(/tag/);
    expect(() => {
      m.srq.deleteTag(1);
    }).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    expect(() => encodeTmh({ opcode: TmhOp.RNDV })).toThrow(/header\.rvh/);
    expect(() => encodeTmh({ opcode: 9 as TmhOp })).toThrow(/header\.opcode/);
    expect(() => decodeTmh('x' as never)).toThrow(/bytes/);
    m.srq.close();
    expect(() => m.srq.addTag({ tag: 1 })).toThrow(/closed/);
  });

  it('has limits that the device tells', () => {
    const { tmCaps } = bench().ctx.queryDeviceEx();
    expect(tmCaps).toEqual({ maxRndvHdrSize: 64, maxNumTags: 1023, flags: 1, maxOps: 32768, maxSge: 1 });
  });
});
