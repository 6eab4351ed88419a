import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type AhAttr, type Gid, Rate, VerbsError } from '../../src/index.js';
import { type Bench, bench } from '../helpers/devices.js';

const grh = { dgid: '::ffff:127.0.0.1', sgidIndex: 0, hopLimit: 64 };

/** The device's own address: the way there and its GID. */
function itself({ ctx }: Bench) {
  const { gid: dgid, index: sgidIndex } = ctx.defaultGid();
  const ipv4 = dgid.replace('::ffff:', '');
  return { dgid, sgidIndex, ipv4, bytes: ipv4.split('.').map(Number) };
}

it('is made with every field of ibv_ah_attr and ibv_global_route', () => {
  const b = bench();
  const { dgid, sgidIndex } = itself(b);
  const attr: AhAttr = {
    dlid: 0,
    sl: 3,
    srcPathBits: 5,
    staticRate: Rate.GBPS_100,
    isGlobal: true,
    portNum: 1,
    grh: { dgid, sgidIndex, hopLimit: 64, flowLabel: 0xfffff, trafficClass: 0x68 },
  };
  const ah = b.pd.createAh(attr);
  expect(ah.attr).toEqual(attr);
  expect(inspect(ah).replaceAll(/\s+/g, ' ')).toContain(`{ portNum: 1, dgid: '${dgid}', sgidIndex: ${sgidIndex}`);
  ah.close();
  ah.close();
  expect(ah.closed).toBe(true);
});

const groups = (bytes: number[]) => Buffer.from(bytes).toString('hex').match(/..../g) ?? [];
const whole = (bytes: number[]) => [...Array<number>(10).fill(0), 255, 255, ...bytes];

it.each<[form: string, spell: (own: ReturnType<typeof itself>) => Gid]>([
  ['its text', ({ dgid }) => dgid],
  ['capital hexadecimal groups', ({ bytes }) => `::FFFF:${groups(bytes).join(':').toUpperCase()}`],
  ['eight groups', ({ bytes }) => `0:0:0:0:0:ffff:${groups(bytes).join(':')}`],
  ['eight groups, the last two as IPv4', ({ ipv4 }) => `0000:0000:0000:0000:0000:ffff:${ipv4}`],
  ['a Uint8Array', ({ bytes }) => Uint8Array.from(whole(bytes))],
  ['a Buffer', ({ bytes }) => Buffer.from(whole(bytes))],
])('takes a GID as %s', (_, spell) => {
  const b = bench();
  const own = itself(b);
  expect(b.pd.createAh({ portNum: 1, grh: { dgid: spell(own) } }).attr.grh.dgid).toBe(own.dgid);
});

it('refuses to go without a global route where the port requires one', () => {
  const { pd } = bench();
  for (const attr of [{ portNum: 1 }, { portNum: 1, dlid: 4 }, { portNum: 1, isGlobal: false, grh }]) {
    expect(() => pd.createAh(attr)).toThrow(
      expect.objectContaining({
        code: 'EINVAL',
        errno: -22,
        syscall: 'ibv_create_ah',
        message: expect.stringMatching(/give attr\.grh with the dgid/) as string,
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
  const b = bench();
  const { dgid } = itself(b);
  const ah = b.pd.createAh({ portNum: 1, grh: { dgid } });
  b.pd.close();
  expect(ah.closed).toBe(true);
});

it('EINVAL says which part of the address is wrong', () => {
  const { ctx, pd } = bench();
  const { gid, index } = ctx.defaultGid();
  const make = (attr: { portNum: number; dgid: string; sgidIndex?: number }) => () => {
    const { portNum, ...grh } = attr;
    pd.createAh({ portNum, grh });
  };
  expect(make({ portNum: 1, dgid: '2001:db8::1' })).toThrow(
    `port 1 exists, and GID ${index} is ${gid}: it does not reach grh.dgid 2001:db8::1. Both must be IPv4-mapped`,
  );
  expect(make({ portNum: 3, dgid: gid })).toThrow('there is no port 3: ports count from 1 to 1');
  expect(make({ portNum: 1, dgid: gid, sgidIndex: 77 })).toThrow(
    new RegExp(`grh\\.sgidIndex 77 is no GID of port 1: there are .*${index} \\(${gid}\\)`),
  );
});

it('leads somewhere', () => {
  const b = bench();
  // TEST-NET-3: from a loopback address no route leads there.
  expect(() => b.pd.createAh({ portNum: 1, grh: { dgid: '::ffff:203.0.113.9' } })).toThrow(
    expect.objectContaining({
      code: 'ENETUNREACH',
      // A host with another address may have a way from that one.
      message: expect.stringMatching(/no route to grh\.dgid|GID 0 .* does not reach ::ffff:203\.0\.113\.9/) as string,
    }),
  );
});
