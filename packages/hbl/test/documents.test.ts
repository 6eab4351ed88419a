// What the manual pages hbldv_create_encap(3) and hbldv_create_usr_fifo(3) say, sentence by sentence. The test's name
// has the sentence's meaning.
import { describe, expect, it } from 'vitest';
import {
  createEncap,
  createUsrFifo,
  Encap,
  EncapType,
  encodeDoorbell,
  modifyQp,
  QpCaps,
  queryQp,
  setPortEx,
  UsrFifo,
  UsrFifoType,
  WqeFlags,
  WqeOpcode,
} from '../src/index.js';
import {
  codeOf,
  completion,
  configureDevices,
  connect,
  type End,
  end,
  open,
  ready,
  textIn,
  write,
} from './helpers/devices.js';

const HEADER = Uint8Array.of(0x08, 0, 0, 0, 0, 0, 7, 0);
const overUdp = { portNum: 1, encapType: EncapType.ENC_OVER_UDP, udpDstPort: 4789, header: HEADER } as const;

function both(): [End, End] {
  configureDevices();
  return [end(open('hbl_0', 'default')), end(open('hbl_1', 'default'))];
}

describe('hbldv_create_encap(3)', () => {
  it('allocates an encapsulation resource, and frees one', () => {
    const ctx = ready();
    const encap = createEncap(ctx, overUdp);
    expect(encap).toBeInstanceOf(Encap);
    encap.close();
    expect(encap.closed).toBe(true);
    expect(createEncap(ctx, overUdp).encapNum).toBe(encap.encapNum);
  });

  it('allows the user to encapsulate the RDMA packets with a user defined header', async () => {
    const [a, b] = both();
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const hbl = { caps: QpCaps.ENCAP, encapNum: createEncap(from.ctx, overUdp).encapNum };
      connect(from, to, { rtr: hbl, rts: hbl });
    }
    expect(await write(a, b, 'with a header')).toBe('SUCCESS');
    expect(textIn(b, 13)).toBe('with a header');
  });

  it('context: the RDMA device context to work on', () => {
    expect(() => createEncap({} as never, overUdp)).toThrow(/ctx must be a Context/);
  });

  it('tnl_hdr_ptr: the header data is that of the call, whatever becomes of the memory', async () => {
    const [a, b] = both();
    const header = HEADER.slice();
    const made = createEncap(a.ctx, { ...overUdp, header });
    header.fill(0xff);
    const mine = { caps: QpCaps.ENCAP, encapNum: made.encapNum };
    const theirs = { caps: QpCaps.ENCAP, encapNum: createEncap(b.ctx, overUdp).encapNum };
    connect(a, b, { rtr: mine, rts: mine });
    connect(b, a, { rtr: theirs, rts: theirs });
    expect(await write(a, b, 'copied')).toBe('SUCCESS');
  });

  it('tnl_hdr_size: the header size, of which both ends have the same', async () => {
    const [a, b] = both();
    const mine = { caps: QpCaps.ENCAP, encapNum: createEncap(a.ctx, overUdp).encapNum };
    const longer = { ...overUdp, header: new Uint8Array(12) };
    const theirs = { caps: QpCaps.ENCAP, encapNum: createEncap(b.ctx, longer).encapNum };
    connect(a, b, { rtr: mine, rts: mine });
    connect(b, a, { rtr: theirs, rts: theirs });
    expect(await write(a, b, 'lost')).toBe('RETRY_EXC_ERR');
  });

  it('ipv4_addr: the source IP address is set regardless of the type', () => {
    const ctx = ready('gaudi', 'link=process');
    for (const attr of [
      { portNum: 1, encapType: EncapType.NO_ENC, ipv4Addr: '192.0.2.1' },
      { ...overUdp, ipv4Addr: 0xc0000201 },
      { portNum: 1, encapType: EncapType.ENC_OVER_IPV4, ipProto: 47, header: HEADER, ipv4Addr: '192.0.2.1' },
    ] as const) {
      createEncap(ctx, attr).close(); // encap.test.ts looks at the packets
    }
  });

  it('port_num: the encapsulation is of that port', () => {
    const ctx = ready();
    setPortEx(ctx, { portNum: 2 });
    const [one, two] = [createEncap(ctx, overUdp), createEncap(ctx, { ...overUdp, portNum: 2 })];
    expect([one.portNum, one.encapNum, two.portNum, two.encapNum]).toEqual([1, 0, 2, 0]);
  });

  it('udp_dst_port is valid for an L4 tunnel, ip_proto for an L3 tunnel', () => {
    const ctx = ready();
    const overIpv4 = { portNum: 1, encapType: EncapType.ENC_OVER_IPV4, ipProto: 47, header: HEADER } as const;
    createEncap(ctx, overIpv4);
    expect(() => createEncap(ctx, { ...overIpv4, udpDstPort: 4789 } as never)).toThrow(/udpDstPort goes with/);
    expect(() => createEncap(ctx, { ...overUdp, ipProto: 47 } as never)).toThrow(/ipProto goes with/);
  });

  it('encap_type: NO_ENC 0, ENC_OVER_IPV4 1 and ENC_OVER_UDP 2 are the types', () => {
    expect(EncapType).toEqual({ NO_ENC: 0, ENC_OVER_IPV4: 1, ENC_OVER_UDP: 2 });
    expect(() => createEncap(ready(), { ...overUdp, encapType: 3 as number })).toThrow(/attr\.encapType/);
  });

  it('on success gives an encapsulation id, to be used for a queue pair by hbldv_modify_qp', () => {
    const [a, b] = both();
    const { encapNum } = createEncap(a.ctx, overUdp);
    expect(encapNum).toBe(0);
    const hbl = { caps: QpCaps.ENCAP, encapNum };
    connect(a, b, { rtr: hbl, rts: hbl });
    expect(a.qp.query().attr.qpState).toBe(3);
  });

  it('gives NULL and errno on failure: a VerbsError with the name of the call', () => {
    configureDevices();
    const ctx = open();
    expect(() => createEncap(ctx, overUdp)).toThrow(
      expect.objectContaining({ code: 'EPERM', errno: -1, syscall: 'hbldv_create_encap' }),
    );
  });
});

describe('hbldv_create_usr_fifo(3)', () => {
  it('allocates a hardware resource to send commands to NICs, and frees it', () => {
    const ctx = ready();
    const fifo = createUsrFifo(ctx, { portNum: 1, usrFifoNumHint: 9 });
    expect(fifo).toBeInstanceOf(UsrFifo);
    fifo.close();
    expect(createUsrFifo(ctx, { portNum: 1, usrFifoNumHint: 9 }).usrFifoNum).toBe(9);
  });

  it('lets the user send direct commands to the NIC', async () => {
    const [a, b] = both();
    connect(a, b, { rtr: { localKey: a.mr.lkey }, rts: { remoteKey: b.mr.rkey } });
    connect(b, a);
    const fifo = createUsrFifo(a.ctx, { portNum: 1, usrFifoType: UsrFifoType.DB });
    const { qpNum, sendQueue } = queryQp(a.qp);
    a.mr.bytes.set(new TextEncoder().encode('direct'));
    const wqe = {
      opcode: WqeOpcode.WRITE,
      flags: WqeFlags.SIGNALED,
      length: 6,
      localAddr: a.mr.addr,
      remoteAddr: b.mr.addr,
    };
    const index = sendQueue?.write(0, wqe) ?? 0;
    expect(fifo.push(encodeDoorbell({ index, qpNum, portNum: 1 }))).toBe(1);
    expect((await completion(a.cq)).ok).toBe(true);
    expect(textIn(b, 6)).toBe('direct');
  });

  it('the resource is allocated per port', () => {
    const ctx = ready();
    setPortEx(ctx, { portNum: 2 });
    const numbers = [1, 2].map((portNum) => createUsrFifo(ctx, { portNum, usrFifoNumHint: 4 }).usrFifoNum);
    expect(numbers).toEqual([4, 4]);
  });

  it('usr_fifo_type: the operation modes are DB for doorbells and CC for congestion control', () => {
    expect(UsrFifoType).toMatchObject({ DB: 0, CC: 1 });
    const ctx = ready();
    for (const usrFifoType of [0, 1])
      expect(createUsrFifo(ctx, { portNum: 1, usrFifoType }).usrFifoType).toBe(usrFifoType);
    expect(codeOf(() => createUsrFifo(ctx, { portNum: 1, usrFifoType: 2 }))).toBe('EINVAL');
  });

  it('if the hint is not zero, that resource is allocated; if it is not available, the call fails', () => {
    const ctx = ready();
    expect(createUsrFifo(ctx, { portNum: 1, usrFifoNumHint: 17 }).usrFifoNum).toBe(17);
    expect(codeOf(() => createUsrFifo(ctx, { portNum: 1, usrFifoNumHint: 17 }))).toBe('EBUSY');
  });

  it('gives the resource id, the allocated size, the offset within the resource and the back-pressure threshold', () => {
    const fifo = createUsrFifo(ready(), { portNum: 1 });
    expect(fifo).toMatchObject({ usrFifoNum: 1, size: 512, regsOffset: 0, bpThresh: 256 });
    expect(fifo.mapped).toBe(true);
  });

  it('ci_cpu_addr: the user synchronizes the execution of commands by the consumer index', async () => {
    const fifo = createUsrFifo(ready(), { portNum: 1 });
    expect(fifo.ci).toBe(0);
    fifo.push(BigUint64Array.of(0n, 0n, 0n));
    await fifo.space(62);
    expect(fifo.ci).toBe(3);
  });

  it('gives NULL and errno on failure: a VerbsError with the name of the call', () => {
    configureDevices();
    const ctx = open();
    expect(() => createUsrFifo(ctx, { portNum: 1 })).toThrow(
      expect.objectContaining({ code: 'EPERM', errno: -1, syscall: 'hbldv_create_usr_fifo' }),
    );
  });

  it('modifyQp is where both pages meet: the encapsulated queue pair takes doorbells too', async () => {
    const [a, b] = both();
    const mine = { caps: QpCaps.ENCAP, encapNum: createEncap(a.ctx, overUdp).encapNum };
    const theirs = { caps: QpCaps.ENCAP, encapNum: createEncap(b.ctx, overUdp).encapNum };
    connect(a, b, { rtr: { ...mine, localKey: a.mr.lkey }, rts: { ...mine, remoteKey: b.mr.rkey } });
    connect(b, a, { rtr: theirs, rts: theirs });
    const fifo = createUsrFifo(a.ctx, { portNum: 1 });
    const { qpNum, sendQueue } = queryQp(a.qp);
    a.mr.bytes[0] = 0x5a;
    const index =
      sendQueue?.write(0, {
        opcode: WqeOpcode.WRITE,
        flags: WqeFlags.SIGNALED,
        length: 1,
        localAddr: a.mr.addr,
        remoteAddr: b.mr.addr,
      }) ?? 0;
    fifo.push({ index, qpNum, portNum: 1 });
    expect((await completion(a.cq)).ok).toBe(true);
    expect(b.mr.bytes[0]).toBe(0x5a);
    modifyQp(a.qp, { qpState: 0 });
  });
});
