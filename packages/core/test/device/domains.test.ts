import { describe, expect, it } from 'vitest';
import {
  CounterDescription,
  flowLabelToUdpSport,
  importDevice,
  mbpsToRate,
  multToRate,
  nodeTypeText,
  portStateText,
  PortState,
  QpType,
  Rate,
  rateToMbps,
  rateToMult,
  SendFlags,
  WqFlags,
  WqState,
  WrOpcode,
} from '../../src/index.js';
import { ALL_ACCESS, bench, datagram, pair, QKEY, take } from '../helpers/devices.js';

describe('a parent domain', () => {
  it('is used as the domain it is made of', async () => {
    const b = bench();
    const td = b.ctx.allocTd();
    const pd = b.pd.allocParentDomain({ td });
    const mr = pd.allocMr(64, ALL_ACCESS);
    const [one, two] = pair({ ...b, pd });
    two.postRecv({ sgList: [{ mr }] });
    one.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr: b.mr, length: 8 }] });
    expect((await take(b.cq, 2)).every(({ ok }) => ok)).toBe(true);
    // Parents close their children first.
    td.close();
    expect([pd.closed, mr.closed, one.closed]).toEqual([true, true, true]);
  });

  it('needs open domains', () => {
    const b = bench();
    expect(() => b.pd.allocParentDomain({ td: b.pd as never })).toThrow(/^attr\.td must be a ThreadDomain/);
    b.pd.close();
    expect(() => b.pd.allocParentDomain()).toThrow(/closed/);
  });
});

describe('import', () => {
  it('gives a context, domains and regions a second time within the process', async () => {
    const b = bench();
    b.mr.bytes.set(Buffer.from('shared'));
    const ctx = importDevice(b.ctx.cmdFd, b.ctx.device);
    const pd = ctx.importPd(b.pd.pdHandle);
    const mr = pd.importMr(b.mr.mrHandle);
    expect({ rkey: mr.rkey, length: mr.length }).toEqual({ rkey: b.mr.rkey, length: b.mr.length });
    mr.close();
    const same = b.pd.importMr(b.mr.mrHandle, { addr: b.mr.addr });
    const [from, to] = pair(b);
    const wr = { opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr: same, length: 6 }] };
    await from.send({ ...wr, remote: same.remote(), remoteOffset: 4096 });
    expect(Buffer.from(b.mr.buffer, 4096, 6).toString()).toBe('shared');
    for (const each of [from, to, same]) each.close();
    pd.close();
    expect(b.mr.closed).toBe(false);
    const dm = b.ctx.allocDm(64);
    dm.copyTo(0, Buffer.from('dm..'));
    const sameDm = ctx.importDm(dm.dmHandle, 64);
    const four = new Uint8Array(4);
    sameDm.copyFrom(0, four);
    expect(Buffer.from(four).toString()).toBe('dm..');
    ctx.close();
    expect(sameDm.closed).toBe(true);
    const [one, other] = pair(b);
    other.postRecv({});
    one.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED });
    expect((await take(b.cq, 2)).every(({ ok }) => ok)).toBe(true);
  });

  it('refuses a descriptor of something else', () => {
    const b = bench();
    expect(() => importDevice(0, 'soft0')).toThrow(expect.objectContaining({ syscall: 'ibv_import_device' }));
    const other = importDevice(b.ctx.cmdFd, 'soft0');
    other.close();
    expect(() => importDevice(b.ctx.cmdFd, 'soft1')).toThrow(/ENODEV|another device/);
    expect(() => importDevice(-1, 'soft0')).toThrow(/^fd must be an integer/);
    expect(() => b.ctx.importPd(0x7fffffff)).toThrow(expect.objectContaining({ syscall: 'ibv_import_pd' }));
    expect(() => b.pd.importMr(0x7fffffff)).toThrow(expect.objectContaining({ syscall: 'ibv_import_mr' }));
  });
});

describe('an address handle from a completion', () => {
  it('is the way back', async () => {
    const b = bench();
    const [one, two] = [datagram(b), datagram(b)];
    const ah = b.pd.createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid, trafficClass: 4, hopLimit: 9 } });
    two.postRecv({ wrId: 1, sgList: [{ mr: b.mr, offset: 0, length: 100 }] });
    one.postSend({ opcode: WrOpcode.SEND, ah, remoteQpn: two.qpNum, remoteQkey: QKEY });
    const [wc] = await take(b.cq, 1);
    if (wc === undefined) throw new Error('no completion');
    const back = b.pd.createAhFromWc(wc, b.mr.bytes.subarray(0, 40), 1);
    expect(back.attr).toMatchObject({ isGlobal: true, portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } });
    expect(b.ctx.initAhFromWc(1, wc, b.mr.bytes.subarray(0, 40))).toEqual(back.attr);
    one.postRecv({ wrId: 2, sgList: [{ mr: b.mr, offset: 200, length: 100 }] });
    two.postSend({ opcode: WrOpcode.SEND, ah: back, remoteQpn: wc.srcQp, remoteQkey: QKEY });
    expect((await take(b.cq, 1))[0]).toMatchObject({ wrId: 2, ok: true });
    // Without the header that the completion speaks of there is nothing to read it from.
    expect(() => b.pd.createAhFromWc(wc, undefined, 1)).toThrow(/^grh must be the first 40 bytes/);
    expect(() => b.pd.createAhFromWc(wc, new Uint8Array(39), 1)).toThrow(/^grh has 39 bytes/);
    expect(() => b.pd.createAhFromWc({} as never, undefined, 1)).toThrow(/^wc\.slid must be a number/);
    expect(() => b.pd.createAhFromWc(wc, new Uint8Array(40), 1)).toThrow(/, ibv_create_ah_from_wc: /);
    // The header of a datagram that went elsewhere: neither the port nor the header is at fault.
    const elsewhere = b.mr.bytes.slice(0, 40);
    elsewhere.set([192, 0, 2, 7], 36);
    elsewhere[30] = 0;
    elsewhere[31] = 0;
    for (const [call, syscall] of [
      [() => b.pd.createAhFromWc(wc, elsewhere, 1), 'ibv_create_ah_from_wc'],
      [() => b.ctx.initAhFromWc(1, wc, elsewhere), 'ibv_init_ah_from_wc'],
    ] as const)
      expect(call).toThrow(
        new RegExp(
          `${syscall}: the destination of the routing header, ::ffff:192\\.0\\.2\\.7, is no GID of port 1, which has `,
        ),
      );
  });
});

describe('multicast', () => {
  it('reaches every attached queue pair', async () => {
    const b = bench();
    const receivers = [datagram(b), datagram(b)];
    const sender = datagram(b);
    const group = '::ffff:224.9.9.9';
    for (const qp of receivers) {
      qp.attachMcast(group);
      qp.postRecv({ wrId: qp.qpNum, sgList: [{ mr: b.mr, length: 100 }] });
    }
    const ah = b.pd.createAh({ portNum: 1, grh: { dgid: group } });
    sender.postSend({ opcode: WrOpcode.SEND, ah, remoteQpn: 0xffffff, remoteQkey: QKEY });
    const ids = (await take(b.cq, 2)).map(({ wrId }) => wrId);
    expect(ids.sort()).toEqual(receivers.map(({ qpNum }) => qpNum).sort());
    for (const qp of receivers) qp.detachMcast(group);
    expect(() => {
      receivers[0]?.detachMcast(group);
    }).toThrow(/^EINVAL: .*ibv_detach_mcast: the queue pair is not attached to ::ffff:224\.9\.9\.9/);
    expect(() => {
      pair(b)[0].attachMcast(group);
    }).toThrow(/^EINVAL: .*groups are for queue pairs of UD, and this one is of RC$/);
    expect(() => {
      sender.attachMcast('::ffff:10.0.0.1');
    }).toThrow(/^EINVAL: .*gid ::ffff:10\.0\.0\.1 is no multicast group: a group begins with ff/);
    expect(() => {
      sender.attachMcast('nonsense');
    }).toThrow(/^gid is no GID/);
  });
});

describe('what the device does not have', () => {
  it('is told by the name of the function', () => {
    const b = bench();
    const [qp] = pair(b);
    const failing: [string, () => unknown][] = [
      ['ibv_create_counters', () => b.ctx.createCounters()],
      ['ibv_create_wq', () => b.pd.createWq({ cq: b.cq, maxWr: 4, createFlags: WqFlags.CVLAN_STRIPPING })],
      ['ibv_create_flow', () => qp.createFlow({ specs: [{ type: 'udp', val: { dstPort: 4789 } }, { type: 'drop' }] })],
    ];
    for (const [syscall, call] of failing) {
      expect(call, syscall).toThrow(expect.objectContaining({ syscall }));
    }
    expect(WqState.RDY + CounterDescription.BYTES + QpType.RC).toBe(4);
  });

  it('checks the fields of a flow first', () => {
    const b = bench();
    const [qp] = pair(b);
    const bad: [object, RegExp][] = [
      [{ type: 'ipx' }, /^attr\.specs\[0\]\.type is not known; known are eth/],
      [{ type: 'udp', val: { port: 1 } }, /^attr\.specs\[0\]\.val\.port is not known/],
      [{ type: 'udp', val: { dstPort: 70000 } }, /^attr\.specs\[0\]\.val\.dstPort/],
      [{ type: 'eth', val: { dstMac: new Uint8Array(5) } }, /^attr\.specs\[0\]\.val\.dstMac must be 6 bytes/],
      [{ type: 'count', counters: qp }, /^attr\.specs\[0\]\.counters must be a Counters/],
    ];
    for (const [spec, message] of bad) expect(() => qp.createFlow({ specs: [spec as never] })).toThrow(message);
  });
});

describe('values', () => {
  it('convert rates', () => {
    expect([rateToMult(Rate.GBPS_10), multToRate(4), rateToMbps(Rate.GBPS_100), mbpsToRate(10_000)]).toEqual([
      4,
      Rate.GBPS_10,
      103125,
      Rate.GBPS_10,
    ]);
  });

  it('have names', () => {
    expect(portStateText(PortState.ACTIVE)).toBe('active');
    expect(nodeTypeText(1)).toBe('InfiniBand channel adapter');
    expect(flowLabelToUdpSport(0x12345)).toBe(((0x12345 & 0x3fff) ^ (0x12345 >> 14)) | 0xc000);
  });
});
