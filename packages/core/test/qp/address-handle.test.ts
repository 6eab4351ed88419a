import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type AhAttr, Rate, VerbsError } from '../../src/index.js';
import { bench } from '../helpers/devices.js';

const grh = { dgid: '::ffff:127.0.0.1', sgidIndex: 0, hopLimit: 64 };

it('is made with every field of ibv_ah_attr and ibv_global_route', () => {
  const { pd } = bench();
  const attr: AhAttr = {
    dlid: 0,
    sl: 3,
    srcPathBits: 5,
    staticRate: Rate.GBPS_100,
    isGlobal: true,
    portNum: 1,
    grh: { ...grh, flowLabel: 0xfffff, trafficClass: 0x68 },
  };
  const ah = pd.createAh(attr);
  expect(ah.attr).toEqual(attr);
  expect(inspect(ah)).toMatch(/^AddressHandle #\d+ \{\s+portNum: 1,\s+dgid: '::ffff:127.0.0.1',\s+sgidIndex: 0,/);
  ah.close();
  ah.close();
  expect(ah.closed).toBe(true);
});

it.each([
  '::ffff:127.0.0.1',
  '::FFFF:7F00:1',
  '0:0:0:0:0:ffff:7f00:0001',
  '0000:0000:0000:0000:0000:ffff:127.0.0.1',
  Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1),
  Buffer.from('00000000000000000000ffff7f000001', 'hex'),
])('takes a GID as %s', (dgid) => {
  const { pd } = bench();
  expect(pd.createAh({ portNum: 1, grh: { dgid } }).attr.grh.dgid).toBe('::ffff:127.0.0.1');
});

it('refuses to go without a global route where the port requires one', () => {
  const { pd } = bench();
  for (const attr of [{ portNum: 1 }, { portNum: 1, dlid: 4 }, { portNum: 1, isGlobal: false, grh }]) {
    expect(() => pd.createAh(attr)).toThrow(
      expect.objectContaining({
        code: 'EINVAL',
        errno: -22,
        syscall: 'ibv_create_ah',
        message: expect.stringMatching(/set attr\.isGlobal to true and attr\.grh/) as string,
      }),
    );
  }
});

describe('checks by name', () => {
  const wrong: [path: string, attr: object, kind: typeof TypeError | typeof RangeError][] = [
    ['attr', 5 as never, TypeError],
    ['attr', [] as never, TypeError],
    ['attr.portNum', { grh }, TypeError],
    ['attr.portNum', { portNum: 0, grh }, RangeError],
    ['attr.portNum', { portNum: 256, grh }, RangeError],
    ['attr.dlid', { portNum: 1, dlid: 65536, grh }, RangeError],
    ['attr.sl', { portNum: 1, sl: 16, grh }, RangeError],
    ['attr.srcPathBits', { portNum: 1, srcPathBits: 128, grh }, RangeError],
    ['attr.staticRate', { portNum: 1, staticRate: 256, grh }, RangeError],
    ['attr.isGlobal', { portNum: 1, isGlobal: 1, grh }, TypeError],
    ['attr.grh', { portNum: 1, isGlobal: true }, TypeError],
    ['attr.grh', { portNum: 1, grh: 'x' }, TypeError],
    ['attr.grh.dgid', { portNum: 1, grh: {} }, TypeError],
    ['attr.grh.dgid', { portNum: 1, grh: { dgid: '10.0.0.1' } }, TypeError],
    ['attr.grh.dgid', { portNum: 1, grh: { dgid: '::1\0' } }, TypeError],
    ['attr.grh.dgid', { portNum: 1, grh: { dgid: 'fe80::1%lo' } }, TypeError],
    ['attr.grh.dgid', { portNum: 1, grh: { dgid: new Uint8Array(15) } }, TypeError],
    ['attr.grh.dgid', { portNum: 1, grh: { dgid: new Uint16Array(8) } }, TypeError],
    ['attr.grh.flowLabel', { portNum: 1, grh: { ...grh, flowLabel: 0x100000 } }, RangeError],
    ['attr.grh.sgidIndex', { portNum: 1, grh: { ...grh, sgidIndex: 256 } }, RangeError],
    ['attr.grh.hopLimit', { portNum: 1, grh: { ...grh, hopLimit: -1 } }, RangeError],
    ['attr.grh.trafficClass', { portNum: 1, grh: { ...grh, trafficClass: 1.5 } }, RangeError],
    ['attr.grh.sgidindex', { portNum: 1, grh: { ...grh, sgidindex: 1 } }, TypeError],
    ['attr.port', { port: 1, grh }, TypeError],
  ];
  it.each(wrong)('%s (%#)', (path, attr, kind) => {
    const { pd } = bench();
    expect(() => pd.createAh(attr as never)).toThrow(kind);
    expect(() => pd.createAh(attr as never)).toThrow(new RegExp(`^${path.replaceAll('.', '\\.')} `));
  });
});

it("gives the C library's errno for what only it knows", () => {
  const { pd } = bench();
  expect(() => pd.createAh({ portNum: 9, grh })).toThrow(VerbsError);
  expect(() => pd.createAh({ portNum: 1, grh: { ...grh, sgidIndex: 200 } })).toThrow(/ibv_create_ah/);
});

it('is closed with its protection domain', () => {
  const { pd } = bench();
  const ah = pd.createAh({ portNum: 1, grh });
  pd.close();
  expect(ah.closed).toBe(true);
});

it('EINVAL says which part of the address is wrong', () => {
  const { ctx, pd } = bench();
  const { gid } = ctx.defaultGid();
  const make = (attr: { portNum: number; dgid: string; sgidIndex?: number }) => () => {
    const { portNum, ...grh } = attr;
    pd.createAh({ portNum, grh });
  };
  expect(make({ portNum: 1, dgid: '2001:db8::1' })).toThrow(
    `port 1 exists, and GID 0 is ${gid}: it does not reach grh.dgid 2001:db8::1. Both must be IPv4-mapped`,
  );
  expect(make({ portNum: 3, dgid: gid })).toThrow('there is no port 3: ports count from 1 to 1');
  expect(make({ portNum: 1, dgid: gid, sgidIndex: 77 })).toThrow(
    `grh.sgidIndex 77 is no GID of port 1: there are 0 (${gid})`,
  );
});
