// What a sequence of calls has to do with: objects of every kind, buffers, and promises that wait.
import { Describer } from './describe.mjs';

/** The reason of every signal: one of its own would keep what called, by its stack. */
export const ABORTED = new DOMException('This operation was aborted', 'AbortError');

/** Collections are slow, so a sequence has a limited number of them. */
const COLLECTIONS = 2;

export class World {
  random;
  /** Objects by the name of their class, open and closed. */
  pools = new Map();
  /** Buffers that may be detached and resized at any moment. */
  buffers = [];
  /** What waits: { name, owner, done, error }. */
  waits = [];
  /** What ends the waiting of calls. */
  controllers = [];
  /** Calls of a nested kind, made by `harm`; the sequence puts it here. */
  nested = () => undefined;
  #names;
  #describer = new Describer();
  #collections = 0;
  #harmDepth = 0;
  #count = 0;

  /** @param classes by their names: objects of these are kept */
  constructor(classes, random) {
    this.#names = new Map([...classes].map(([name, value]) => [value, name]));
    this.random = random;
  }

  /** What makes hostile values of the package's own, by their names. */
  get ownValues() {
    return {};
  }
  /** A buffer whose memory an object uses, for somebody to take it away. */
  usedBuffer() {
    return undefined;
  }
  /** Whether nobody has to know the object any more, for the end of the sequence. */
  mayForget() {
    return true;
  }

  label(object, text) {
    this.#describer.label(object, text);
  }

  text(value) {
    return this.#describer.text(value);
  }

  /** Takes what a call gave. */
  take(value) {
    const kind = this.kindOf(value);
    if (kind === undefined || this.has(kind, value)) return value;
    this.label(value, `${kind} ${++this.#count}`);
    if (!this.pools.has(kind)) this.pools.set(kind, []);
    this.pools.get(kind).push(value);
    return value;
  }

  has(kind, value) {
    return this.pools.get(kind)?.includes(value) === true;
  }

  /** The name of the class that made an object, if such are kept. */
  kindOf(value) {
    if (typeof value !== 'object' || value === null) return undefined;
    // Not by its name, which a bundler may change.
    return this.#names.get(Object.getPrototypeOf(value)?.constructor);
  }

  /** Mostly an open object of that kind; undefined if the sequence has none. */
  object(kind) {
    const pool = this.pools.get(kind) ?? [];
    const open = pool.filter((each) => !each.closed);
    return open.length === 0 || this.random.oneIn(20)
      ? this.random.pick(pool.length === 0 ? [undefined] : pool)
      : this.random.pick(open);
  }

  all() {
    return [...this.pools.values()].flat();
  }

  anyResource() {
    const list = this.all();
    return list.length === 0 ? undefined : this.random.pick(list);
  }

  closedResource() {
    const list = this.all().filter(({ closed }) => closed);
    return list.length === 0 ? this.anyResource() : this.random.pick(list);
  }

  /** Options with a signal that is aborted before, soon, or never. */
  signal() {
    const controller = new AbortController();
    if (this.random.oneIn(4)) controller.abort(ABORTED);
    this.controllers.push(controller);
    return { signal: controller.signal };
  }

  collect() {
    if (this.#collections++ < COLLECTIONS) globalThis.gc();
  }

  /** Something bad in the middle of a call, as a getter may do it. Gives what it did. */
  harm() {
    if (this.#harmDepth > 1) return 'nothing';
    this.#harmDepth++;
    try {
      const kind = this.random.weighted({ close: 5, detach: 4, resize: 2, call: 5, collect: 1, forget: 1 });
      return `${kind} ${this.#harms[kind]() ?? ''}`;
    } finally {
      this.#harmDepth--;
    }
  }

  /** Closes an object, in one of the ways that it has. Gives what it did. */
  closeOne(object) {
    object?.close?.();
    return this.text(object);
  }

  #harms = {
    close: () => this.closeOne(this.anyResource()),
    detach: () => {
      const used = this.usedBuffer();
      const buffer = this.random.oneIn(2) || used === undefined ? this.random.pick(this.buffers) : used;
      return detach(buffer, this.random.below(3));
    },
    resize: () => {
      for (const buffer of this.buffers) {
        if (buffer.resizable) buffer.resize(this.random.below(buffer.maxByteLength + 1));
        if (buffer.growable) buffer.grow(buffer.maxByteLength);
      }
    },
    call: () => this.nested(),
    collect: () => {
      this.collect();
    },
    forget: () => {
      const pool = this.pools.get(this.random.pick([...this.pools.keys()]));
      if (pool === undefined || !this.random.oneIn(3)) return;
      const at = this.random.below(pool.length);
      if (this.mayForget(pool[at])) pool.splice(at, 1);
    },
  };
}

/** Buffers of every kind, which nothing uses yet. */
export const freshBuffers = () => [
  new ArrayBuffer(4096),
  new ArrayBuffer(64, { maxByteLength: 4096 }),
  new SharedArrayBuffer(64, { maxByteLength: 4096 }),
  new SharedArrayBuffer(4096),
];

/** Tries to take a buffer's memory away, in one of the ways that there are. */
function detach(buffer, way) {
  try {
    if (way === 0) structuredClone(buffer, { transfer: [buffer] });
    else if (way === 1) buffer.transfer?.();
    else structuredClone({ buffer }, { transfer: [buffer] });
    return 'a buffer';
  } catch (error) {
    return `a buffer: ${error.name}`;
  }
}
