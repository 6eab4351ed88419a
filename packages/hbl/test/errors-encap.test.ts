// Every row of the error tables, in both profiles where they differ.
import { type Context } from '@verbs/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { createEncap, EncapType, queryPort, setPortEx } from '../src/index.js';
import { codeOf, ready, header, udp } from './helpers/devices.js';

describe('encapsulations of gaudi', () => {
  let ctx: Context;
  beforeEach(() => {
    ctx = ready('gaudi');
  });

  it('have a header of 0 to 32 bytes in steps of 4, else EINVAL', () => {
    for (const size of [0, 4, 8, 32]) createEncap(ctx, udp(size)).close();
    for (const size of [1, 31, 33, 36])
      expect(() => createEncap(ctx, udp(size))).toThrow(new RegExp(`EINVAL.*header has ${size} bytes`));
  });

  it('are of all three types; port 0 and protocol 17 would be none', () => {
    createEncap(ctx, { portNum: 1, encapType: EncapType.NO_ENC });
    createEncap(ctx, { portNum: 1, encapType: EncapType.ENC_OVER_IPV4, ipProto: 47, header: header(4) });
    for (const ipProto of [0, 17]) {
      const attr = { portNum: 1, encapType: EncapType.ENC_OVER_IPV4, ipProto, header: header(4) };
      expect(() => createEncap(ctx, attr)).toThrow(new RegExp(`EINVAL.*ipProto is ${ipProto}`));
    }
    expect(() => createEncap(ctx, { ...udp(), udpDstPort: 0 })).toThrow(/EINVAL.*udpDstPort is 0/);
  });

  it('are as many as queryPort reports, numbered from 0; the next is EBUSY', () => {
    const { maxNumOfEncaps } = queryPort(ctx, 1);
    const encaps = Array.from({ length: maxNumOfEncaps }, () => createEncap(ctx, udp()));
    expect(encaps.map(({ encapNum }) => encapNum)).toEqual(encaps.map((_, i) => i));
    expect(codeOf(() => createEncap(ctx, udp()))).toBe('EBUSY');
    encaps[3]?.close();
    expect(createEncap(ctx, udp()).encapNum).toBe(3);
  });

  it('need a port that is there: EINVAL', () => {
    for (const portNum of [0, 5]) {
      const wrong = new RegExp(`EINVAL.*the context has no port ${portNum}; it has 1, 2, 3, 4`);
      expect(() => createEncap(ctx, udp(32, portNum))).toThrow(wrong);
      expect(() => queryPort(ctx, portNum)).toThrow(wrong);
    }
  });

  it('refuse a source address that is not local, with its name', () => {
    expect(codeOf(() => createEncap(ctx, { ...udp(), ipv4Addr: '192.0.2.9' }))).toBe('EADDRNOTAVAIL');
    expect(() => createEncap(ctx, { ...udp(), ipv4Addr: '192.0.2.9' })).toThrow(
      /192\.0\.2\.9 is not one of this machine/,
    );
    createEncap(ctx, { ...udp(), ipv4Addr: '127.0.0.1' });
  });
});

describe('encapsulations of gaudi2', () => {
  it('are over UDP with exactly 32 bytes, else EOPNOTSUPP', () => {
    const ctx = ready('gaudi2');
    for (const size of [0, 8, 31, 33]) expect(codeOf(() => createEncap(ctx, udp(size)))).toBe('EOPNOTSUPP');
    expect(codeOf(() => createEncap(ctx, { portNum: 1, encapType: EncapType.NO_ENC }))).toBe('EOPNOTSUPP');
    const gre = { portNum: 1, encapType: EncapType.ENC_OVER_IPV4, ipProto: 47, header: header(32) };
    expect(codeOf(() => createEncap(ctx, gre))).toBe('EOPNOTSUPP');
    createEncap(ctx, udp());
  });

  it('are one a port, a second is EBUSY before its attributes are looked at; numbers 0 and 2', () => {
    const ctx = ready('gaudi2');
    setPortEx(ctx, { portNum: 2 });
    const first = createEncap(ctx, udp());
    expect(first.encapNum).toBe(0);
    expect(createEncap(ctx, udp(32, 2)).encapNum).toBe(2);
    expect(codeOf(() => createEncap(ctx, udp(8)))).toBe('EBUSY');
    first.close();
    createEncap(ctx, udp());
  });

  it('have no say about the source address', () => {
    createEncap(ready('gaudi2'), { ...udp(), ipv4Addr: '192.0.2.9' });
  });
});
