// Every row of the error tables, in both profiles where they differ.
import { type Context, openDevice as openAny, QpType } from '@verbs/core';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  CqType,
  createCq,
  createEncap,
  createUsrFifo,
  isSupported,
  listDevices,
  modifyQp,
  openDevice,
  PortCaps,
  queryCq,
  queryDevice,
  queryPort,
  queryQp,
  setPortEx,
  UsrFifoType,
} from '../src/index.js';
import { codeOf, configureDevices, open, type Profile, PROFILES, ready, toInit, udp } from './helpers/devices.js';

const array = (wqes: number) => [{ maxNumOfWqs: 8, maxNumOfWqesInWq: wqes }];

describe('the devices', () => {
  beforeEach(() => {
    configureDevices();
  });

  it('are supported, others are not', () => {
    expect(listDevices().map(({ name }) => name)).toEqual(['hbl_0', 'hbl_1']);
    const foreign = openAny('soft0');
    expect(isSupported(foreign.device)).toBe(false);
    foreign.close();
  });

  it('answer EOPNOTSUPP from every function for a device of another vendor', () => {
    const ctx = openAny('soft0');
    const cq = ctx.createCq(4);
    const qp = ctx
      .allocPd()
      .createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
    const calls: (() => unknown)[] = [
      () => openDevice(ctx.device),
      () => queryDevice(ctx),
      () => {
        setPortEx(ctx, { portNum: 1 });
      },
      () => queryPort(ctx, 1),
      () => createUsrFifo(ctx, { portNum: 1 }),
      () => createEncap(ctx, udp()),
      () => createCq(ctx, 4, { portNum: 1 }),
      () => queryCq(cq),
      () => {
        modifyQp(qp, toInit());
      },
      () => queryQp(qp),
    ];
    for (const call of calls) expect(codeOf(call)).toBe('EOPNOTSUPP');
    expect(() => queryDevice(ctx)).toThrow('on soft0: this is no Habana device: see isSupported(device)');
    ctx.close();
  });

  it('are opened once with attributes, EBUSY; repeated default opens give the same context', () => {
    open();
    expect(codeOf(() => openDevice('hbl_0', {}))).toBe('EBUSY');
    expect(codeOf(() => openDevice('hbl_0'))).toBe('EBUSY');
    const one = open('hbl_1', 'default');
    const two = openDevice('hbl_1');
    expect(codeOf(() => openDevice('hbl_1', {}))).toBe('EBUSY');
    const fifo = createUsrFifo(one, { portNum: 1, usrFifoNumHint: 3 });
    expect(codeOf(() => createUsrFifo(two, { portNum: 1, usrFifoNumHint: 3 }))).toBe('EBUSY');
    two.close();
    expect(fifo.free).toBe(62);
    expect(queryDevice(one).portsMask).toBe(0b11110n);
  });

  it('are not confused where the library has one default context for all of them', () => {
    configureDevices('gaudi2');
    const first = open('hbl_0', 'default');
    expect(() => openDevice('hbl_1')).toThrow(/EBUSY.*its default context, of hbl_0/);
    expect(() => openAny('hbl_1')).toThrow(/EBUSY.*gives out the context of another device/);
    expect(queryDevice(first).portsMask).toBe(0b11110n);
    first.close();
    const second = openAny('hbl_1');
    expect(second.device.name).toBe('hbl_1');
    second.close();
  });

  it('open the ports of the mask: others are EINVAL', () => {
    expect(codeOf(() => openDevice('hbl_0', { portsMask: 1n << 5n }))).toBe('EINVAL');
    expect(() => openDevice('hbl_0', { portsMask: 1n })).toThrow(/attr\.portsMask has bit 0 set/);
    const ctx = open('hbl_0', { portsMask: 0b100n });
    expect(queryDevice(ctx)).toEqual({ caps: 1n, portsMask: 0b100n, numPorts: 1 });
    for (const portNum of [0, 1, 3, 4, 5, 0xffffffff]) {
      expect(codeOf(() => queryPort(ctx, portNum))).toBe('EINVAL');
      expect(
        codeOf(() => {
          setPortEx(ctx, { portNum });
        }),
      ).toBe('EINVAL');
    }
    expect(queryPort(ctx, 2).maxNumOfQps).toBe(8192);
    expect(codeOf(() => openDevice('hbl_7'))).toBe('ENODEV');
  });
});

describe.each(PROFILES)('ports of %s', (profile: Profile) => {
  it('must be set up first and once: EPERM before and for the second time', () => {
    configureDevices(profile);
    const ctx = open();
    expect(codeOf(() => createUsrFifo(ctx, { portNum: 1 }))).toBe('EPERM');
    expect(codeOf(() => createEncap(ctx, udp()))).toBe('EPERM');
    expect(codeOf(() => createCq(ctx, 4, { portNum: 1, cqType: CqType.CC }))).toBe('EPERM');
    setPortEx(ctx, { portNum: 1 });
    expect(
      codeOf(() => {
        setPortEx(ctx, { portNum: 1 });
      }),
    ).toBe('EPERM');
    createUsrFifo(ctx, { portNum: 1 });
    expect(codeOf(() => createUsrFifo(ctx, { portNum: 2 }))).toBe('EPERM');
  });

  it('are set up by a default open: EPERM afterwards', () => {
    configureDevices(profile);
    const ctx = open('hbl_0', 'default');
    expect(
      codeOf(() => {
        setPortEx(ctx, { portNum: 1 });
      }),
    ).toBe('EPERM');
    createUsrFifo(ctx, { portNum: 4 });
  });

  it('that are closed are ENODEV for everything', () => {
    configureDevices(profile, 'closed_ports=0x4');
    const ctx = open();
    const calls = [
      () => {
        setPortEx(ctx, { portNum: 2 });
      },
      () => queryPort(ctx, 2),
      () => createUsrFifo(ctx, { portNum: 2 }),
      () => createEncap(ctx, udp(32, 2)),
      () => createCq(ctx, 4, { portNum: 2 }),
    ];
    for (const call of calls) expect(codeOf(call)).toBe('ENODEV');
  });

  it('take work queue arrays of 16 to 32768 entries, offsets up to 0x7ffffff, the first two with ADVANCED', () => {
    configureDevices(profile);
    const ctx = open();
    const attempt = (more: object) =>
      codeOf(() => {
        setPortEx(ctx, { portNum: 1, ...more });
      });
    for (const wqes of [0, 15, 32769]) expect(attempt({ wqArrAttr: array(wqes) })).toBe('EINVAL');
    expect(attempt({ wqArrAttr: [{ maxNumOfWqs: 1, maxNumOfWqesInWq: 16, memId: 3 }] })).toBe('EINVAL');
    expect(attempt({ qpWqBpOffs: [1] })).toBe('EINVAL');
    expect(attempt({ qpWqBpOffs: [0, 1] })).toBe('EINVAL');
    expect(attempt({ qpWqBpOffs: [0, 0, 0x8000000] })).toBe('EINVAL');
    expect(attempt({ caps: PortCaps.ADVANCED, qpWqBpOffs: [1, 1, 0x7ffffff], wqArrAttr: array(16) })).toBeUndefined();
  });

  it('are queried before and after', () => {
    const ctx = ready(profile);
    expect(queryPort(ctx, 2)).toEqual({
      maxNumOfQps: 8192,
      numAllocatedQps: 1,
      maxAllocatedQpNum: 0,
      maxCqSize: 131072,
      advanced: false,
      maxNumOfCqs: 14,
      maxNumOfUsrFifos: 30,
      maxNumOfEncaps: profile === 'gaudi' ? 8 : 2,
      nicMacroIdx: 0,
      nicPhysPortIdx: 1,
    });
    setPortEx(ctx, { portNum: 3, caps: PortCaps.ADVANCED });
    expect(queryPort(ctx, 3)).toMatchObject({ advanced: profile === 'gaudi', nicMacroIdx: 1, nicPhysPortIdx: 0 });
  });
});

describe.each(PROFILES)('user FIFOs of %s', (profile: Profile) => {
  let ctx: Context;
  beforeEach(() => {
    ctx = ready(profile);
  });

  it('have the number of the hint or none', () => {
    expect(createUsrFifo(ctx, { portNum: 1, usrFifoNumHint: 5 }).usrFifoNum).toBe(5);
    expect(codeOf(() => createUsrFifo(ctx, { portNum: 1, usrFifoNumHint: 5 }))).toBe('EBUSY');
    expect(createUsrFifo(ctx, { portNum: 1, usrFifoNumHint: 30 }).usrFifoNum).toBe(30);
    const beyond = () => createUsrFifo(ctx, { portNum: 1, usrFifoNumHint: 31 });
    expect(beyond).toThrow(/EINVAL.*usrFifoNumHint is 31; the port has 1 to 30/);
    expect(() => createUsrFifo(ctx, { portNum: 9 })).toThrow(/EINVAL.*the context has no port 9; it has 1, 2, 3, 4/);
    expect(() => createUsrFifo(ctx, { portNum: 1, usrFifoType: 99 as never })).toThrow(
      /EINVAL.*usrFifoType 99 is none of UsrFifoType/,
    );
  });

  it('are 30 a port; with the hint 0 the first free number; EBUSY when none is left', () => {
    const fifos = Array.from({ length: 30 }, () => createUsrFifo(ctx, { portNum: 1 }));
    expect(fifos.map(({ usrFifoNum }) => usrFifoNum)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
    expect(codeOf(() => createUsrFifo(ctx, { portNum: 1 }))).toBe('EBUSY');
    fifos[11]?.close();
    expect(createUsrFifo(ctx, { portNum: 1 }).usrFifoNum).toBe(12);
  });

  it('have 512 bytes, half of it as the threshold, and an odd offset for an odd hardware number', () => {
    const [one, two] = [createUsrFifo(ctx, { portNum: 1 }), createUsrFifo(ctx, { portNum: 1 })];
    expect(one).toMatchObject({ size: 512, bpThresh: 256, entries: 64, regsOffset: 0, ci: 0, free: 62 });
    expect(two.regsOffset).not.toBe(0);
  });

  it('are of type DB or CC, else EINVAL, and the number is free again', () => {
    expect(() => createUsrFifo(ctx, { portNum: 1, usrFifoType: UsrFifoType.COLL_OPS_SHORT })).toThrow(
      /EINVAL.*usrFifoType COLL_OPS_SHORT: the Gaudi SDK's library only/,
    );
    expect(createUsrFifo(ctx, { portNum: 1, usrFifoType: UsrFifoType.CC }).usrFifoNum).toBe(1);
  });

  it('need a port that is there: EINVAL', () => {
    for (const portNum of [0, 5]) expect(codeOf(() => createUsrFifo(ctx, { portNum }))).toBe('EINVAL');
  });
});

it('wrong arguments are found by name before any call', () => {
  const ctx = ready();
  const bad: [() => unknown, RegExp][] = [
    [
      () => createEncap(ctx, { ...udp(), ipProto: 47 } as never),
      /attr\.ipProto goes with EncapType\.ENC_OVER_IPV4 only/,
    ],
    [() => createEncap(ctx, { ...udp(), udpDstPort: 65536 }), /attr\.udpDstPort must be an integer/],
    [() => createEncap(ctx, { ...udp(), header: 'x' } as never), /attr\.header must be a Uint8Array/],
    [() => createEncap(ctx, { ...udp(), ipv4Addr: '1.2.3' }), /attr\.ipv4Addr must be an IPv4 address/],
    [() => createEncap(ctx, { ...udp(), encapType: 3 as number }), /attr\.encapType/],
    [() => createUsrFifo(ctx, { portNum: 1, usrFifoNumHnt: 1 } as never), /attr\.usrFifoNumHnt is not known/],
    [() => createUsrFifo({} as never, { portNum: 1 }), /ctx must be a Context/],
    [() => createCq(ctx, 4, { portNum: 256 }), /options\.portNum/],
  ];
  for (const [call, message] of bad) expect(call).toThrow(message);
});
