// Arguments for a function: recorded ones, some of them replaced or spoilt.
import { types } from 'node:util';

const NUMBERS = [
  ...[0, -0, -1, 1, 1.5, 2, 3, 7, 63, 64, 255, 256, 4095, 65535, 65536, 2 ** 24, 2 ** 31 - 1, 2 ** 31],
  ...[
    2 ** 32 - 1,
    2 ** 32,
    2 ** 40,
    2 ** 53,
    2 ** 63,
    2 ** 64,
    1e300,
    -(2 ** 31),
    -(2 ** 53),
    NaN,
    Infinity,
    -Infinity,
  ],
];
const BIGINTS = [0n, 1n, -1n, 1n << 31n, (1n << 32n) - 1n, 1n << 63n, (1n << 64n) - 1n, 1n << 64n, -(1n << 63n)];
const TEXTS = ['', '0', 'soft0', '\0', '\ud800', 'x'.repeat(70_000), '../..', '::ffff:127.0.0.1', '127.0.0.1'];

const isPlain = (value) =>
  typeof value === 'object' && value !== null && !types.isExternal(value) && !ArrayBuffer.isView(value);

export class Mutator {
  /** How the arguments were made, for the log. */
  label = '';
  #random;
  #recorder;
  #harm;

  constructor(random, recorder, harm) {
    this.#random = random;
    this.#recorder = recorder;
    this.#harm = harm;
  }

  argumentsOf(name) {
    const random = this.#random;
    const tuples = this.#recorder.recorded.get(name);
    if (tuples === undefined) return this.#guessed();
    const args = random.pick(tuples).map((each) => this.#own(each));
    const known = args.length;
    if (args.length === 0 || random.oneIn(30)) args.length = random.below(9);
    // Mostly one wrong argument among right ones: with several, the first check ends most calls.
    const wrong = random.weighted({ 0: 4, 1: 6, 2: 2, 9: 1 });
    const at = new Set(Array.from({ length: Number(wrong) }, () => random.below(args.length || 1)));
    const labels = [];
    for (let i = 0; i < args.length; i++) {
      const [how, value] = at.has(i) || i >= known ? this.#wrong(args[i]) : ['.', args[i]];
      args[i] = value;
      labels.push(how);
    }
    this.label = labels.join(', ');
    return args;
  }

  /** Arguments for a function of which nothing is known: mostly it takes a handle first. */
  #guessed() {
    const random = this.#random;
    const args = [];
    for (let i = random.below(6); i > 0; i--) args.push(random.oneIn(3) ? this.#any()[1] : random.below(40));
    if (!random.oneIn(6)) args.unshift(random.pick(this.#recorder.handles));
    if (random.oneIn(4)) args.splice(1, 0, random.pick(this.#recorder.handles));
    this.label = `guessed ${args.length}`;
    return args;
  }

  /** Buffers of the package stay whole: a call gets a copy, whose memory may go away. */
  #own(value) {
    return ArrayBuffer.isView(value) && !(value instanceof DataView) ? this.#recorder.copyOf(value) : value;
  }

  /** Something else in the place of a value: its name, and it. */
  #wrong(value) {
    const random = this.#random;
    if (isPlain(value) && !random.oneIn(4)) {
      return random.oneIn(3) ? ['proxy', this.#proxyOf(value)] : ['spoilt', this.#spoilt(value)];
    }
    if (ArrayBuffer.isView(value) && random.oneIn(2)) return this.#otherView(value);
    if (types.isExternal(value) && random.oneIn(2)) return ['handle', random.pick(this.#recorder.handles)];
    return this.#any();
  }

  #any() {
    const random = this.#random;
    const makers = {
      number: () => random.pick(NUMBERS),
      small: () => random.below(40),
      bigint: () => random.pick(BIGINTS),
      text: () => random.pick(TEXTS),
      nothing: () => random.pick([undefined, null, true, false]),
      odd: () => random.pick([Symbol('x'), () => undefined, new Date(NaN), new Map(), {}, Object.create(null)]),
      throwing: () => () => {
        throw new TypeError('of the test');
      },
      harming: () => () => this.#harm(),
      array: () => random.pick([[], [undefined], Array(300).fill({}), new Array(100_000), [[]]]),
      long: () => {
        const list = [];
        list.length = 2 ** 32 - 1;
        return list;
      },
      handles: () => Array.from({ length: random.below(6) }, () => random.pick(this.#recorder.handles)),
      handle: () => random.pick(this.#recorder.handles),
      buffer: () => this.#own(random.pick(this.#recorder.buffers)),
      view: () => this.#view(),
      proxy: () => this.#proxyOf({}),
      recorded: () => random.pick(random.pick([...this.#recorder.recorded.values()]).flat()),
    };
    const kind = random.pick(Object.keys(makers));
    return [kind, makers[kind]()];
  }

  #view() {
    const random = this.#random;
    const bytes = random.pick([0, 1, 7, 8, 16, 64, 4096]);
    return random.pick([
      () => new Uint8Array(bytes),
      () => new BigUint64Array(bytes),
      () => new Uint32Array(bytes),
      () => new Float64Array(bytes),
      () => new DataView(new ArrayBuffer(bytes)),
      () => new ArrayBuffer(bytes),
      () => new Uint8Array(new SharedArrayBuffer(bytes)),
      () => new Uint8Array(new ArrayBuffer(bytes, { maxByteLength: 4096 })),
    ])();
  }

  /** The same kind of view with other memory behind it. */
  #otherView(value) {
    const random = this.#random;
    const kind = value.constructor;
    const size = value.byteLength;
    const each = kind.BYTES_PER_ELEMENT ?? 1;
    return random.pick([
      () => ['shorter', new kind(Math.max(0, Math.floor(size / each) - 1))],
      () => ['empty', new kind(0)],
      () => ['shared', new kind(new SharedArrayBuffer(size - (size % each)))],
      () => {
        const view = new kind(size / each);
        structuredClone(view.buffer, { transfer: [view.buffer] });
        return ['detached', view];
      },
      () => {
        const buffer = new ArrayBuffer(size - (size % each), { maxByteLength: size + 4096 });
        const view = new kind(buffer);
        buffer.resize(0);
        return ['shrunk', view];
      },
    ])();
  }

  /** A copy with a wrong field, or one whose getter does harm. */
  #spoilt(value) {
    const random = this.#random;
    const copy = Array.isArray(value) ? [...value] : { ...value };
    const keys = Object.keys(copy);
    if (keys.length === 0) return copy;
    const key = random.pick(keys);
    const good = copy[key];
    const [, wrong] = isPlain(good) && !random.oneIn(3) ? ['', this.#spoilt(good)] : this.#any();
    if (random.oneIn(3)) copy[key] = wrong;
    else if (random.oneIn(4)) Reflect.deleteProperty(copy, key);
    else {
      let reads = 0;
      const get = random.pick([
        () => {
          this.#harm();
          return good;
        },
        () => (reads++ % 2 === 0 ? good : wrong),
        () => {
          throw new TypeError('of the test');
        },
      ]);
      Object.defineProperty(copy, key, { get, enumerable: true, configurable: true });
    }
    return copy;
  }

  /** Every field is something else each time. */
  #proxyOf(value) {
    return new Proxy(value, {
      get: (target, key) => {
        if (typeof key === 'symbol') return Reflect.get(target, key);
        if (this.#random.oneIn(6)) this.#harm();
        return this.#random.oneIn(2) ? Reflect.get(target, key) : this.#any()[1];
      },
    });
  }
}
