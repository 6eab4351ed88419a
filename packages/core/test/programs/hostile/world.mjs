// What a sequence of calls has to do with: objects of every kind, buffers, completions, and promises that wait.
import { Describer } from './describe.mjs';

/** Collections are slow, so a sequence has a limited number of them. */
const COLLECTIONS = 2;

export class World {
  core;
  random;
  /** Objects by the name of their class, open and closed. */
  pools = new Map();
  /** Buffers that may be detached and resized at any moment. */
  buffers = [];
  completions = [];
  /** What waits: { text, done, controller }. */
  waits = [];
  /** Calls of a nested kind, made by `harm`; the sequence puts it here. */
  nested = () => undefined;
  #names;
  #describer = new Describer();
  #collections = 0;
  #harmDepth = 0;
  #count = 0;

  constructor(core, random) {
    this.core = core;
    this.#names = new Map(Object.entries(core).map(([name, value]) => [value, name]));
    this.random = random;
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

  /** The name of the exported class that made an object with a lifetime, of a batch or a message. */
  kindOf(value) {
    if (typeof value !== 'object' || value === null) return undefined;
    // Not by its name, which a bundler may change.
    const name = this.#names.get(Object.getPrototypeOf(value)?.constructor);
    const kept =
      name !== undefined && ('closed' in this.core[name].prototype || name.endsWith('Batch') || name === 'Message');
    return kept ? name : undefined;
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

  isOpenReceiver(object) {
    return object instanceof this.core.Receiver && !object.closed;
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

  #harms = {
    close: () => {
      const object = this.anyResource();
      object?.close?.();
      return this.text(object);
    },
    detach: () => {
      const mr = this.object('MemoryRegion');
      const buffer = this.random.oneIn(2) || mr === undefined ? this.random.pick(this.buffers) : mr.buffer;
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
      // It holds its context until that is closed, and then the end of the sequence has to know it.
      if (!this.isOpenReceiver(pool[at])) pool.splice(at, 1);
    },
  };
}

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
