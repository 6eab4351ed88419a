// One sequence: good objects, then calls that are mostly bad, then an end of one kind or another.
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { commonCalls, dataCalls } from './calls-data.mjs';
import { objectCalls } from './calls-objects.mjs';
import { Failure, isPromised, Trap } from './judge.mjs';
import { mutate } from './mutate.mjs';
import { prepare } from './prepare.mjs';
import { hostileValue } from './values.mjs';
import { World } from './world.mjs';

/** Calls that a program makes often are made often here. */
const BUSY =
  /^(QueuePair\.(post|modify)|SharedReceiveQueue\.post|SendBatch\.set$|RecvBatch\.set$|CompletionQueue\.(poll|wait|\[)|CompletionChannel\.get)/;
const SETTLE_MS = 20_000;

/** Good arguments for a public call. Undefined: they are not written down yet. */
export function argumentsOf(name) {
  const [, member = name] = name.split(/\.(.*)/s);
  const tables = [objectCalls, dataCalls].map((table) => [table, name]);
  const found = [...tables, [commonCalls, member]].find(([table, key]) => Object.hasOwn(table, key));
  return found?.[0][found[1]];
}

/** What a wait is rejected with by the signals of the calls: the reason that a signal has. */
const ENDS = ['AbortError', 'TimeoutError'];

export class Sequence {
  #world;
  #random;
  #surface;
  #counts;
  #trace;
  #lines = [];

  /**
   * @param core the package under test
   * @param counts how often each call was made and returned, over all sequences: Map of name to { made, returned }
   * @param trace receives each line before it is carried out, for lines that end the process
   */
  constructor(core, random, surface, counts, trace) {
    this.#world = new World(core, random);
    this.#world.controllers = [];
    this.#world.nested = () => this.#call();
    this.#random = random;
    this.#surface = surface;
    this.#counts = counts;
    this.#trace = trace;
  }

  /** What was done so far, a line for each step. */
  get protocol() {
    return this.#lines;
  }

  async run() {
    prepare(this.#world, (line) => {
      this.#say(line);
    });
    const contexts = this.#world.all().filter((each) => this.#world.kindOf(each) === 'Context');
    for (let steps = 8 + this.#random.below(32); steps > 0; steps--) {
      const kind = this.#random.weighted({ call: 60, harm: 6, turn: 8, construct: 1, internal: 2 });
      if (kind === 'call') this.#call();
      else if (kind === 'harm') this.#guarded(() => `harm: ${this.#world.harm()}`);
      else if (kind === 'construct') this.#construct();
      else if (kind === 'internal') this.#internal();
      else await turn();
    }
    await this.#end(
      new Set([...contexts, ...this.#world.all().filter((each) => this.#world.kindOf(each) === 'Context')]),
    );
  }

  #say(line) {
    this.#lines.push(line);
    this.#trace?.(line);
  }

  /** Runs something whose errors must be of the promised kinds. */
  #guarded(action) {
    try {
      const said = action();
      if (typeof said === 'string') this.#say(said);
      return true;
    } catch (error) {
      if (error instanceof Failure) throw error;
      if (!isPromised(this.#world.core, error)) throw new Failure('threw something else', error);
      this.#lines.push(`  threw ${error.name}: ${error.message.slice(0, 160)}`);
      return false;
    }
  }

  #call() {
    const name = this.#random.pick(this.#random.oneIn(2) ? this.#surface.busy : this.#surface.calls);
    const make = argumentsOf(name) ?? (() => []);
    const [kind, member] = name.includes('.') ? name.split(/\.(.*)/s) : [undefined, name];
    const descriptor = kind === undefined ? undefined : this.#surface.descriptors.get(name);
    let receiver = kind === undefined ? undefined : this.#receiver(kind);
    if (kind !== undefined && receiver === undefined) return;
    let args = [];
    // A closed object may throw for its numbers, too.
    this.#guarded(() => {
      args = make(this.#world);
    });
    if (!this.#random.oneIn(3)) mutate(this.#world, args);
    if (kind !== undefined && this.#random.oneIn(40)) receiver = hostileValue(this.#world);
    const target = kind === undefined ? this.#world.core[member] : (descriptor.get ?? descriptor.value);
    const said = kind === undefined ? member : `${this.#world.text(receiver)}.${member}`;
    this.#say(descriptor?.get ? said : `${said}(${args.map((arg) => this.#world.text(arg)).join(', ')})`);
    this.#make(name, () => Reflect.apply(target, receiver, args));
  }

  #receiver(kind) {
    if (kind === 'WorkCompletion') return this.#random.pick(this.#world.completions);
    const found = this.#world.object(kind);
    // Of what the device cannot make, the calls are made on something else.
    return found === undefined && this.#random.oneIn(4) ? hostileValue(this.#world) : found;
  }

  #make(name, call) {
    if (!this.#counts.has(name)) this.#counts.set(name, { made: 0, returned: 0 });
    const count = this.#counts.get(name);
    count.made++;
    this.#guarded(() => {
      const result = call();
      count.returned++;
      this.#absorb(name, result, 0);
    });
  }

  /** A constructor that is not for programs, or VerbsError's. */
  #construct() {
    const name = this.#random.pick([...this.#surface.classes.keys()]);
    const real = this.#world.anyResource();
    const handle = real?.[Symbol.for('@verbs/core.handle')];
    const made = { handle, id: 1, cqe: 1, qpNum: 1, dmHandle: 1, cap: {} };
    const args = this.#random.shuffled([real, handle, made, { pd: real, context: real, made, attr: {} }, []]);
    if (this.#random.oneIn(2)) mutate(this.#world, args);
    this.#say(`new ${name}(${args.map((arg) => this.#world.text(arg)).join(', ')})`);
    this.#guarded(() => {
      Reflect.construct(this.#world.core[name], args);
    });
  }

  /** What TypeScript hides from programs. */
  #internal() {
    const [kind, members] = this.#random.pick([...this.#surface.classes]);
    // Only constructors have a parent adopt a child. A program that forges a child there spoils nothing but the parent's
    // close, which then throws an error.
    const member = this.#random.pick(members.filter(({ internal, text }) => internal && !text.includes('adopt')));
    const receiver = this.#world.object(kind);
    if (member === undefined || receiver === undefined) return;
    const args = Array.from({ length: this.#random.below(3) }, () => hostileValue(this.#world));
    this.#say(
      `${this.#world.text(receiver)}.${member.text} internally (${args.map((arg) => this.#world.text(arg)).join(', ')})`,
    );
    this.#guarded(() => {
      const value = receiver[member.key];
      if (typeof value === 'function') this.#absorb(member.text, Reflect.apply(value, receiver, args), 0);
    });
  }

  /** Keeps what a call gave, for the calls that follow. */
  #absorb(name, result, depth) {
    if (typeof result !== 'object' || result === null || depth > 2) return;
    const { core, completions } = this.#world;
    if (result instanceof Promise) this.#await(name, result);
    else if (result instanceof core.WorkCompletion) completions.push(result);
    else if (Array.isArray(result)) for (const each of result.slice(0, 8)) this.#absorb(name, each, depth + 1);
    else if (typeof result.return === 'function' && Symbol.asyncIterator in result) this.#iterate(name, result);
    else this.#world.take(result);
  }

  #iterate(name, iterator) {
    for (let times = this.#random.below(4); times > 0; times--) this.#await(`${name}.next`, iterator.next());
    if (this.#random.oneIn(3)) this.#await(`${name}.return`, iterator.return());
    else if (this.#random.oneIn(4)) this.#await(`${name}.throw`, iterator.throw(new Trap('into the iterator')));
  }

  #await(name, promise) {
    const wait = { name, done: false, error: undefined };
    this.#world.waits.push(wait);
    promise
      .then(
        (value) => {
          this.#absorb(name, value?.value ?? value, 1);
        },
        (error) => {
          if (!isPromised(this.#world.core, error) && !ENDS.includes(error?.name)) wait.error = error;
        },
      )
      .finally(() => {
        wait.done = true;
      });
  }

  /** Closes everything, or leaves it to the garbage collector. Every promise must settle. */
  async #end(contexts) {
    const { controllers, waits } = this.#world;
    const forget = this.#random.oneIn(5);
    if (forget || this.#random.oneIn(2)) for (const controller of controllers) controller.abort();
    await turn();
    // What waits without a signal waits until the close, and holds its context meanwhile; so does an open receiver.
    const waiting =
      waits.some(({ done }) => !done) || this.#world.all().some((each) => this.#world.isOpenReceiver(each));
    if (!forget || waiting) {
      this.#say('end: close all');
      for (const context of this.#random.shuffled([...contexts])) context.close();
      const open = this.#world.all().filter((each) => each.closed === false);
      if (open.length > 0) throw new Failure(`${this.#world.text(open[0])} is open after its context's close`);
    }
    const limit = Date.now() + SETTLE_MS;
    while (waits.some(({ done }) => !done)) {
      if (Date.now() > limit) throw new Failure(`${waits.find(({ done }) => !done).name} never settled`);
      await delay(1);
    }
    const wrong = waits.find(({ error }) => error !== undefined);
    if (wrong !== undefined) throw new Failure(`${wrong.name} was rejected with something else`, wrong.error);
  }
}

/** The surface in the form that sequences need. */
export function prepareSurface(surface, calls) {
  const descriptors = new Map();
  for (const [name, members] of surface.classes) {
    for (const { key, text } of members)
      descriptors.set(`${name}.${text}`, descriptorOf(surface.core[name].prototype, key));
  }
  return { ...surface, calls, descriptors, busy: calls.filter((name) => BUSY.test(name)) };
}

function descriptorOf(prototype, key) {
  for (let level = prototype; level !== null; level = Object.getPrototypeOf(level)) {
    const found = Object.getOwnPropertyDescriptor(level, key);
    if (found !== undefined) return found;
  }
  return undefined;
}
