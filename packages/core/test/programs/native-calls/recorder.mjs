// Records the calls of an addon's functions, with all handles and buffers that pass.
import { types } from 'node:util';

/** As many of each kind: enough for variety, few enough that most are still open. */
const MOST_TUPLES = 30;
const MOST_VALUES = 400;

export class Recorder {
  /** The functions themselves, by their names. */
  functions = new Map();
  /** Lists of arguments, by the names. */
  recorded = new Map();
  handles = [];
  /** Of the package: its own use of them goes on. */
  buffers = [];
  /** Of the calls. */
  copies = [];
  /** Functions that close something. */
  closers;
  #recording = false;

  constructor(addon) {
    for (const [name, call] of Object.entries(addon)) {
      if (typeof call !== 'function') continue;
      this.functions.set(name, call);
      addon[name] = (...args) => {
        if (!this.#recording) return call(...args);
        this.#note(name, args);
        const result = call(...args);
        this.keep(result);
        return result;
      };
    }
    this.closers = [...this.functions.keys()].filter((name) => /^(close|destroy|free|dealloc|release)/i.test(name));
  }

  start() {
    this.#recording = true;
  }
  stop() {
    this.#recording = false;
  }
  /** The arguments of the next tour replace those of this one, whose objects are closed. Closed handles stay a while. */
  forget() {
    this.recorded.clear();
    this.handles.splice(0, Math.max(0, this.handles.length - 20));
    this.buffers.length = 0;
  }

  #note(name, args) {
    const tuples = this.recorded.get(name) ?? [];
    this.recorded.set(name, tuples);
    if (tuples.length < MOST_TUPLES) tuples.push(args);
    for (const each of args) this.keep(each);
  }

  /** Keeps the handles and buffers in a value. */
  keep(value, deep = true) {
    if (types.isExternal(value)) this.#add(this.handles, value);
    else if (ArrayBuffer.isView(value)) this.#add(this.buffers, value);
    else if (deep && typeof value === 'object' && value !== null && !types.isProxy(value)) {
      for (const { value: each } of Object.values(Object.getOwnPropertyDescriptors(value))) this.keep(each, false);
    }
  }
  /** A copy of a buffer's bytes, for a call. */
  copyOf(view) {
    const copy = new view.constructor(view);
    if (this.copies.length > 20) this.copies.length = 0;
    this.copies.push(copy);
    return copy;
  }
  #add(list, value) {
    if (list.includes(value)) return;
    if (list.length < MOST_VALUES) list.push(value);
    else list[list.length >> 1] = value;
  }

  /** Takes the memory of a buffer away that a call has, or had. */
  detachOne(random) {
    const view = random.pick(this.copies);
    if (view !== undefined) structuredClone(view.buffer, { transfer: [view.buffer] });
  }
}
