import { once } from 'node:events';
import { Duplex, PassThrough } from 'node:stream';
import v8 from 'node:v8';
import { describe, expect, it } from 'vitest';
import { checkArrayLengths } from '../../src/stream/array-lengths.js';
import { messagePort } from '../../src/stream/index.js';

/** Up to 2^25 holes have memory. */
const holes = (length: number) => {
  const array: unknown[] = [];
  array.length = length;
  return array;
};

const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;
const values: Record<string, unknown> = {
  nothing: undefined,
  null: null,
  booleans: [true, Object(true), false, Object(false)],
  integers: [0, -5, 2 ** 31, 2 ** 40],
  doubles: [0.5, Object(0.5), NaN],
  bigints: [0n, 2n ** 200n, -1n, Object(7n)],
  text: ['aaaaAAAA', 'ä', '€', '', Object('€')],
  'a date and an expression': [new Date(5), /a€+/gi],
  objects: { a: 1, 7: { list: [] } },
  'a cycle': cycle,
  maps: new Map<unknown, unknown>([['a', new Map([[1, 2]])]]),
  sets: new Set([new Set(), 'a']),
  arrays: [[], [1, , 3], Object.assign([1], { name: 'x' }), new Array(50).fill('filled')], // eslint-disable-line no-sparse-arrays -- a hole is a value, too
  errors: [
    new Error('a'),
    new RangeError('€', { cause: { a: [1] } }),
    new TypeError('x', { cause: new ArrayBuffer(2) }),
  ],
  views: [Buffer.from('bytes'), new Float64Array(3), new DataView(new ArrayBuffer(3))],
  memory: [new ArrayBuffer(5), Reflect.construct(ArrayBuffer, [2, { maxByteLength: 8 }])],
};

/** As no port writes it: views in the form of V8. */
function foreign(value: unknown): Buffer {
  const serializer = new v8.Serializer();
  serializer.writeHeader();
  serializer.writeValue(value);
  return serializer.releaseBuffer();
}

describe('the lengths of arrays in a message', () => {
  it.each(Object.keys(values))('are found behind %s', (name) => {
    const value = values[name];
    for (const write of [v8.serialize, foreign]) {
      expect(() => {
        checkArrayLengths(write([value, { value }, value]));
      }).not.toThrow();
      expect(() => {
        checkArrayLengths(write([value, { value, holes: holes(2 ** 32 - 1) }]));
      }).toThrow(/^EPROTO: the peer sends arrays of \d+ elements in a message of \d+ bytes/);
    }
  });

  it('may be in proportion to the message, and a million in any', () => {
    for (const value of [holes(1_000_000), new Array(300_000).fill(1), Array.from({ length: 300_000 }, () => [1])])
      expect(() => {
        checkArrayLengths(v8.serialize(value));
      }).not.toThrow();
    expect(() => {
      checkArrayLengths(v8.serialize([holes(600_000), holes(600_000)]));
    }).toThrow('arrays of');
  });

  it('are added up where each array has room for the bytes behind it', () => {
    // Each array has the next one as its first element, and says that the rest of the message is its elements.
    const depth = 2000;
    const message = Buffer.concat([
      Buffer.from([0xff, 0x0f]),
      ...Array.from({ length: depth }, () => Buffer.from([0x41, 0xa0, 0x8d, 0x06])),
      Buffer.alloc(100_000, '_'),
    ]);
    expect(() => {
      checkArrayLengths(message);
    }).toThrow('EPROTO');
  });

  it.each([
    ['maps', () => new Map()],
    ['sets', () => new Set()],
    ['objects', () => ({})],
    ['arrays', () => []],
    ['errors', () => new Error('')],
    ['views', () => new Uint8Array(0)],
    ['buffers', () => new ArrayBuffer(0)],
    ['dates', () => new Date(0)],
  ])('are not the only memory that small values take: %s', (_what, make) => {
    const message = v8.serialize(Array.from({ length: 1000 }, make));
    checkArrayLengths(message);
    expect(() => {
      checkArrayLengths(message, 1000 * 32);
    }).toThrow(/^EPROTO: the peer sends a value that takes about \d+ MiB of memory, in a message of \d+ bytes/);
  });

  it('come with buffers that are not resizable any more, and keep their bytes', () => {
    const resizable = (...bytes: number[]) => {
      const buffer = Reflect.construct(ArrayBuffer, [bytes.length, { maxByteLength: 4_000_000 }]) as ArrayBuffer;
      new Uint8Array(buffer).set(bytes);
      return buffer;
    };
    const long = resizable(...Array.from({ length: 300 }, (_, i) => i));
    const value = { first: resizable(1, 2, 3), again: [long, long, resizable()], text: 'behind' };
    const message = v8.serialize(value);
    checkArrayLengths(message);
    const read = v8.deserialize(message) as typeof value;
    expect(read).toEqual(value);
    expect(read.again[0]).toBe(read.again[1]);
    for (const buffer of [read.first, ...read.again]) expect(Reflect.get(buffer, 'resizable')).toBe(false);
  });

  it('do not nest what holds a text alone', () => {
    for (const tag of ['s', 'R', '?\x01']) {
      const message = Buffer.concat([Buffer.from([0xff, 15]), Buffer.from(tag.repeat(200_000), 'latin1')]);
      expect(() => {
        checkArrayLengths(message);
      }).not.toThrow(RangeError);
    }
  });

  it('end the message of a peer before anything is allocated', async () => {
    const wire = new PassThrough();
    const port = messagePort(Duplex.from({ readable: wire, writable: new PassThrough().resume() }));
    port.on('message', () => undefined);
    wire.write(Buffer.from('verbsmp1\0\x01\0\0', 'latin1'));
    // 20 arrays of 2^25 holes: 5 GiB.
    const array = [0x61, 0x80, 0x80, 0x80, 0x10, 0x40, 0, 0x80, 0x80, 0x80, 0x10];
    const message = [0xff, 0x0f, 0x41, 20, ...Array.from({ length: 20 }, () => array).flat(), 0x24, 0, 20];
    wire.write(Buffer.from([0, 0, 0, message.length, ...message]));
    const [error] = (await once(port, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('EPROTO');
  });
});
