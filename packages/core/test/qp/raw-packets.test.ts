import { describe, expect, it, vi } from 'vitest';
import { native } from '../../src/base/native.js';
import {
  FlowAttrType,
  type FlowSpec,
  type QueuePair,
  QpState,
  QpType,
  RxHashFields,
  RxHashFunction,
  SendFlags,
  WcExFlags,
  WqState,
  WrOpcode,
} from '../../src/index.js';
import { bench, type Bench, createQp, take } from '../helpers/devices.js';

const GROUP = [0x01, 0x00, 0x5e, 0, 0, 2];
const SOURCE = [0x02, 0, 0, 0, 0, 1];

/** A frame of UDP from 10.0.0.`from` to 10.0.0.9, port 5678. */
function frame(from: number): Uint8Array {
  const ip = [0x45, 0, 0, 36, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, from, 10, 0, 0, 9];
  const udp = [0x04, 0xd2, 0x16, 0x2e, 0, 16, 0, 0];
  return Uint8Array.from([...GROUP, ...SOURCE, 0x08, 0x00, ...ip, ...udp, 1, 2, 3, 4, 5, 6, 7, 8]);
}

function send(b: Bench, qp: QueuePair, from: number): void {
  const bytes = frame(from);
  b.mr.bytes.set(bytes);
  qp.postSend({
    opcode: WrOpcode.SEND,
    sendFlags: SendFlags.SIGNALED,
    sgList: [{ mr: b.mr, length: bytes.byteLength }],
  });
}

function raw(b: Bench): QueuePair<typeof QpType.RAW_PACKET> {
  const qp = createQp(b, QpType.RAW_PACKET) as QueuePair<typeof QpType.RAW_PACKET>;
  qp.activate();
  return qp;
}

describe('raw packets of the software NIC', () => {
  it('reach the queue pair whose flow matches them, with its tag', async () => {
    const b = bench();
    const cq = b.ctx.createCq(16, {
      channel: b.channel,
      wcFlags: WcExFlags.BYTE_LEN | WcExFlags.QP_NUM | WcExFlags.FLOW_TAG,
    });
    const [sender, receiver] = [raw(b), raw({ ...b, cq })];
    using flow = receiver.createFlow({
      specs: [
        { type: 'eth', val: { dstMac: Uint8Array.from(GROUP) } },
        { type: 'ipv4', val: { srcIp: Uint8Array.of(10, 0, 0, 7) } },
        { type: 'udp', val: { dstPort: 5678 } },
        { type: 'tag', tagId: 42 },
      ],
    });
    expect(flow.qp).toBe(receiver);
    receiver.postRecv({ sgList: [{ mr: b.mr, offset: 4096, length: 2048 }] });
    send(b, sender, 8); // which no flow matches
    await take(b.cq, 1);
    send(b, sender, 7);
    await take(b.cq, 1);
    const [wc] = await take(cq, 1);
    expect(wc).toMatchObject({ ok: true, byteLen: 50, qpNum: receiver.qpNum, flowTag: 42 });
    expect([...b.mr.bytes.subarray(4096, 4096 + 50)]).toEqual([...frame(7)]);
  });

  it('compare all bits that a field has, and no others', () => {
    const qp = raw(bench());
    const create = vi.spyOn(native, 'createFlow').mockReturnValue(-95);
    const specs: FlowSpec[] = [
      { type: 'ipv6', val: { flowLabel: 5, nextHdr: 17 } },
      { type: 'vxlanTunnel', val: { tunnelId: 42 } },
    ];
    expect(() => qp.createFlow({ specs })).toThrow(/EOPNOTSUPP/);
    const sent = create.mock.calls[0]?.[2] as unknown as { val: Uint8Array; mask: Uint8Array }[];
    expect(Buffer.from(sent[0]?.mask ?? []).toString('hex', 32)).toBe('000fffffff000000');
    expect(Buffer.from(sent[1]?.val ?? []).toString('hex')).toBe('0000002a');
    expect(Buffer.from(sent[1]?.mask ?? []).toString('hex')).toBe('00ffffff');
    create.mockRestore();
    const wrong = (spec: object) => () => qp.createFlow({ specs: [spec as FlowSpec] });
    expect(wrong({ type: 'vxlanTunnel', val: { tunnelId: 42 << 24 } })).toThrow(/^attr\.specs\[0\]\.val\.tunnelId/);
    expect(wrong({ type: 'udp', mask: { dstPort: 0xffff } })).toThrow(/^attr\.specs\[0\]\.mask\.dstPort has no val/);
  });

  it('refuse a flow of another queue pair, and an unknown one, and say why', () => {
    const b = bench();
    const datagrams = createQp(b, QpType.UD);
    expect(() => datagrams.createFlow({})).toThrow(expect.objectContaining({ code: 'EINVAL' }));
    const qp = raw(b);
    expect(() => qp.createFlow({ port: 2 })).toThrow(
      expect.objectContaining({ code: 'EINVAL', syscall: 'ibv_create_flow' }),
    );
    expect(() => qp.createFlow({ type: FlowAttrType.SNIFFER })).toThrow(
      expect.objectContaining({ code: 'EOPNOTSUPP' }),
    );
    const flow = qp.createFlow({ type: FlowAttrType.ALL_DEFAULT });
    flow.close();
    expect(flow.closed).toBe(true);
    qp.createFlow({ type: FlowAttrType.ALL_DEFAULT });
    qp.close(); // its flows go first
    expect(qp.closed).toBe(true);
  });
});

describe('receive side scaling of the software NIC', () => {
  it('spreads the frames of a queue pair over receive work queues', async () => {
    const b = bench();
    const wqs = Array.from({ length: 4 }, () => b.pd.createWq({ cq: b.cq, maxWr: 16 }));
    for (const wq of wqs) {
      wq.modify({ wqState: WqState.RDY });
      for (let i = 0; i < 16; i++) wq.postRecv({ sgList: [{ mr: b.mr, offset: 4096, length: 2048 }] });
    }
    const rwqIndTbl = b.ctx.createRwqIndTable(wqs);
    const receiver = b.pd.createQp({
      qpType: QpType.RAW_PACKET,
      rwqIndTbl,
      cap: { maxSendWr: 0, maxRecvWr: 0, maxSendSge: 0, maxRecvSge: 0 },
      rxHashConf: {
        function: RxHashFunction.TOEPLITZ,
        key: Uint8Array.from({ length: 40 }, (_, i) => (i * 37 + 11) & 0xff),
        fields: RxHashFields.SRC_IPV4 | RxHashFields.DST_IPV4,
      },
    });
    receiver.createFlow({ type: FlowAttrType.ALL_DEFAULT });
    const sendCq = b.ctx.createCq(64, { channel: b.channel });
    const sender = raw({ ...b, cq: sendCq });
    for (let from = 1; from <= 16; from++) {
      send(b, sender, from);
      await take(sendCq, 1);
    }
    const used = new Set((await take(b.cq, 16)).map(({ qpNum }) => qpNum));
    expect(used.size).toBeGreaterThan(1);
    for (const number of used) expect(wqs.map(({ wqNum }) => wqNum)).toContain(number);
    expect(b.ctx.queryDeviceEx().rssCaps.maxRwqIndirectionTableSize).toBe(1024);
    expect(() => {
      receiver.modify({ qpState: QpState.INIT, portNum: 1 });
    }).toThrow(/EOPNOTSUPP|not supported/);
    expect(() => wqs[0]?.modify({ wqState: WqState.RDY, currWqState: WqState.ERR })).toThrow(
      expect.objectContaining({ code: 'EINVAL' }),
    );
  });
});
