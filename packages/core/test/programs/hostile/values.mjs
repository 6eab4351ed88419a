// Hostile values: for the place of any argument, or of any field of one.
import { Trap } from './judge.mjs';

const trap = () => {
  throw new Trap('a trap of the test');
};

/** A proxy all of whose traps do the same: throw, or first do harm and then behave. */
function proxyOf(target, before) {
  const names = ['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf', 'set', 'apply', 'construct'];
  const handler = {};
  for (const name of names) {
    handler[name] = (...args) => {
      before();
      return Reflect[name](...args);
    };
  }
  return new Proxy(target, handler);
}

export const NUMBERS = [
  ...[0, -0, -1, 1, 1.5, 2, 3, 7, 8, 255, 256, 4096, 65535, 65536],
  ...[2 ** 24 - 1, 2 ** 24, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40, 2 ** 53 - 1, 2 ** 53, 2 ** 64, 1e300],
  ...[-(2 ** 31), -(2 ** 53), NaN, Infinity, -Infinity, 5e-324],
];
const BIGINTS = [0n, 1n, -1n, (1n << 32n) - 1n, (1n << 63n) - 1n, 1n << 63n, (1n << 64n) - 1n, 1n << 64n, -(1n << 63n)];
const TEXTS = [
  '',
  '0',
  'soft0',
  'x'.repeat(5000),
  '\0',
  '::1',
  '::ffff:127.0.0.1\0',
  '../../..',
  '\ud800',
  '__proto__',
];

function detached() {
  const buffer = new ArrayBuffer(64);
  const view = new Uint8Array(buffer);
  structuredClone(buffer, { transfer: [buffer] });
  return [buffer, view];
}

function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function sparse(length) {
  const list = [];
  list.length = length;
  return list;
}

/** An array that says another length each time. */
function restless(items) {
  let asked = 0;
  return new Proxy(items, {
    get: (target, key) => (key === 'length' ? (asked++ * 7) % 5 : Reflect.get(target, key)),
  });
}

/** What makes a value, by its name in the protocol. `world` is what it may do harm to. */
const makers = {
  number: ({ random }) => random.pick(NUMBERS),
  bigint: ({ random }) => random.pick(BIGINTS),
  text: ({ random }) => random.pick(TEXTS),
  nothing: ({ random }) => random.pick([undefined, null]),
  boolean: ({ random }) => random.oneIn(2),
  symbol: () => Symbol('hostile'),
  function: () => trap,
  class: () => Map,
  date: () => new Date(NaN),
  map: () => new Map([[1, 2]]),
  regexp: () => /x/,
  error: () => new Error('x'),
  promise: () => Promise.resolve(1),
  thenable: () => ({ then: trap }),
  emptyObject: () => ({}),
  nullPrototype: () => Object.create(null),
  array: ({ random }) => random.pick([[], [[]], [undefined], sparse(3), sparse(2 ** 32 - 1), Array(300).fill({})]),
  convertible: ({ random }) => ({ valueOf: trap, toString: trap, length: random.below(9), [Symbol.toPrimitive]: trap }),
  revokedProxy: () => revoked(),
  throwingProxy: () => proxyOf({}, trap),
  throwingArrayProxy: () => proxyOf([{}, {}], trap),
  restlessArray: () => restless([{}, {}, {}, {}, {}]),
  harmingProxy: (world) => proxyOf({}, () => world.harm()),
  detachedBuffer: () => detached()[0],
  detachedView: () => detached()[1],
  emptyView: () => new Uint8Array(0),
  view: ({ random }) => new Uint8Array(random.pick([1, 4, 16, 40, 4096])),
  otherView: ({ random }) =>
    random.pick([new Float64Array(4), new DataView(new ArrayBuffer(64)), new BigInt64Array(2)]),
  buffer: () => Buffer.alloc(64),
  resizable: () => new ArrayBuffer(16, { maxByteLength: 4096 }),
  growable: () => new SharedArrayBuffer(16, { maxByteLength: 4096 }),
  shared: () => new SharedArrayBuffer(4096),
  sharedView: () => new Uint8Array(new SharedArrayBuffer(4096), 8, 100),
  resource: (world) => world.anyResource(),
  closedResource: (world) => world.closedResource(),
  resourceChild: (world) => Object.create(world.anyResource() ?? {}),
  resourcePrototype: (world) => Object.getPrototypeOf(world.anyResource() ?? {}),
  resourceProxy: (world) => proxyOf(world.anyResource() ?? {}, () => undefined),
  harmingResourceProxy: (world) => proxyOf(world.anyResource() ?? {}, () => world.harm()),
};

/** A hostile value; `world.label` remembers its name for the protocol. */
export function hostileValue(world) {
  const all = { ...makers, ...world.ownValues };
  const name = world.random.pick(Object.keys(all));
  const value = all[name](world);
  const described = (typeof value === 'object' && value !== null) || typeof value === 'function';
  if (described) world.label(value, name);
  return value;
}

/** Makes a field of `object` an accessor that misbehaves. */
export function spoil(world, object, key) {
  const descriptor = Object.getOwnPropertyDescriptor(object, key);
  // It may be spoilt already.
  if (!('value' in descriptor)) return;
  const { value: good } = descriptor;
  const kind = world.random.pick(['throws', 'harms', 'changes']);
  let reads = 0;
  const get = {
    throws: trap,
    harms: () => {
      world.harm();
      return good;
    },
    changes: () => (reads++ % 2 === 0 ? good : hostileValue(world)),
  }[kind];
  Object.defineProperty(object, key, { get, enumerable: true, configurable: true });
  world.label(get, `getter that ${kind}`);
}
