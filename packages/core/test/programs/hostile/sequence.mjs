// One sequence: good objects, then calls that are mostly bad, then an end of one kind or another. What it is about differs
// from package to package.
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { Failure, isPromised, Trap } from './judge.mjs';
import { mutate } from './mutate.mjs';
import { hostileValue } from './values.mjs';
import { ABORTED } from './world.mjs';

const SETTLE_MS = 20_000;

/** What a wait is rejected with by the signals of the calls: the reason that a signal has. */
const ENDS = ['AbortError', 'TimeoutError'];

export class Sequence {
  world;
  random;
  surface;
  #counts;
  #trace;
  #lines = [];

  /**
   * @param subject the package under test, see main.mjs
   * @param tools counts: how often each call was made and returned, over all sequences: Map of name to { made, returned };
   *   trace: receives each line before it is carried out, for lines that end the process
   */
  constructor(world, subject, { counts, trace }) {
    this.world = world;
    world.nested = () => {
      this.call();
    };
    this.random = world.random;
    this.surface = subject.surface;
    this.subject = subject;
    this.#counts = counts;
    this.#trace = trace;
  }

  /** What was done so far, a line for each step. */
  get protocol() {
    return this.#lines;
  }

  /** Makes what it begins with. Throws if the good calls do not work: then nothing that follows means anything. */
  async prepare() {
    await Promise.resolve();
  }
  /** Steps of its own, by their names, and their weights. */
  get ownSteps() {
    return {};
  }
  get ownWeights() {
    return {};
  }
  /** Calls are made on an object of that kind. */
  receiver(kind) {
    const found = this.world.object(kind);
    // Of what the device cannot make, the calls are made on something else.
    return found === undefined && this.random.oneIn(4) ? hostileValue(this.world) : found;
  }
  /** Keeps what a call gave, for the calls that follow. */
  keep(result) {
    this.world.take(result);
  }
  /** Closes everything that is left. */
  async closeAll() {
    await Promise.resolve();
  }
  /** Whether something has to be closed, because it waits. */
  mustClose() {
    return this.waiting().length > 0;
  }

  async run() {
    await this.#prepareInTime();
    const weights = { call: 60, harm: 6, turn: 8, ...this.ownWeights };
    for (let steps = 8 + this.random.below(32); steps > 0; steps--) {
      const kind = this.random.weighted(weights);
      if (kind === 'call') this.call();
      else if (kind === 'harm') this.guarded(() => `harm: ${this.world.harm()}`);
      else if (kind === 'turn') await turn();
      else await this.ownSteps[kind]();
    }
    await this.#end();
  }

  async #prepareInTime() {
    const made = new AbortController();
    const late = delay(SETTLE_MS, undefined, { signal: made.signal }).then(() => {
      throw new Failure('the good calls never settled');
    });
    try {
      await Promise.race([this.prepare(), late]);
    } finally {
      made.abort();
      late.catch(() => undefined);
    }
  }

  say(line) {
    this.#lines.push(line);
    this.#trace?.(line);
  }

  /** Runs something whose errors must be of the promised kinds. */
  guarded(action) {
    try {
      const said = action();
      if (typeof said === 'string') this.say(said);
      return true;
    } catch (error) {
      if (error instanceof Failure) throw error;
      if (!isPromised(this.subject.errors, error)) throw new Failure('threw something else', error);
      this.#lines.push(`  threw ${error.name}: ${error.message.slice(0, 160)}`);
      return false;
    }
  }

  /** A public call, and what it is made on: undefined where the sequence has no such object. */
  #pick() {
    const { busy, names, calls } = this.surface;
    const name = this.random.pick(this.random.oneIn(2) ? busy : names);
    const { kind } = calls.get(name);
    return { name, ...calls.get(name), receiver: kind === undefined ? undefined : this.receiver(kind) };
  }

  call() {
    let picked = this.#pick();
    for (let tries = 0; tries < 4 && picked.kind !== undefined && picked.receiver === undefined; tries++)
      picked = this.#pick();
    const { name, kind, member, target, reads } = picked;
    let { receiver } = picked;
    if (kind !== undefined && receiver === undefined) return;
    let args = [];
    // A closed object may throw for its numbers, too.
    this.guarded(() => {
      args = this.subject.argumentsOf(name)?.(this.world) ?? [];
    });
    if (!this.random.oneIn(3)) mutate(this.world, args);
    if (kind !== undefined && this.random.oneIn(40)) receiver = hostileValue(this.world);
    const said = kind === undefined ? member : `${this.world.text(receiver)}.${member}`;
    this.say(reads ? said : `${said}(${args.map((arg) => this.world.text(arg)).join(', ')})`);
    this.#make(name, receiver, () => Reflect.apply(target, receiver, args));
  }

  #make(name, receiver, call) {
    if (!this.#counts.has(name)) this.#counts.set(name, { made: 0, returned: 0 });
    const count = this.#counts.get(name);
    count.made++;
    this.guarded(() => {
      const result = call();
      count.returned++;
      this.absorb(name, receiver, result);
    });
  }

  /** Waits for what a call gave, or keeps it. */
  absorb(name, owner, result, depth = 0) {
    if (typeof result !== 'object' || result === null || depth > 2) return;
    if (result instanceof Promise) this.await(name, owner, result);
    else if (Array.isArray(result)) for (const each of result.slice(0, 8)) this.absorb(name, owner, each, depth + 1);
    else if (typeof result.return === 'function' && Symbol.asyncIterator in result) this.#iterate(name, owner, result);
    else this.keep(result);
  }

  #iterate(name, owner, iterator) {
    for (let times = this.random.below(4); times > 0; times--) this.await(`${name}.next`, owner, iterator.next());
    if (this.random.oneIn(3)) this.await(`${name}.return`, owner, iterator.return());
    else if (this.random.oneIn(4)) this.await(`${name}.throw`, owner, iterator.throw(new Trap('into the iterator')));
  }

  await(name, owner, promise) {
    const wait = { name, owner, done: false, error: undefined };
    this.world.waits.push(wait);
    promise
      .then(
        (value) => {
          this.absorb(name, owner, value?.value ?? value, 1);
        },
        (error) => {
          if (!isPromised(this.subject.errors, error) && !ENDS.includes(error?.name)) wait.error = error;
        },
      )
      .finally(() => {
        wait.done = true;
      });
  }

  waiting() {
    return this.world.waits.filter(({ done }) => !done);
  }

  /** Closes everything, or leaves it to the garbage collector. Every promise must settle. */
  async #end() {
    const { controllers, waits } = this.world;
    const forget = this.random.oneIn(5);
    if (forget || this.random.oneIn(2)) for (const controller of controllers) controller.abort(ABORTED);
    await turn();
    // What waits without a signal waits until the close, and holds its objects meanwhile.
    if (!forget || this.mustClose()) {
      this.say('end: close all');
      await this.closeAll();
      const open = this.world.all().filter((each) => each.closed === false);
      if (open.length > 0) throw new Failure(`${this.world.text(open[0])} is open after everything was closed`);
    }
    await this.settled();
    const wrong = waits.find(({ error }) => error !== undefined);
    if (wrong !== undefined) throw new Failure(`${wrong.name} was rejected with something else`, wrong.error);
  }

  /** Resolves when nothing waits any more. */
  async settled() {
    const limit = Date.now() + SETTLE_MS;
    while (this.waiting().length > 0) {
      if (Date.now() > limit) throw new Failure(`${this.waiting()[0].name} never settled`);
      await delay(1);
    }
  }
}
