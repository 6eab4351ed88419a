// A sequence of @verbs/core: its constructors and what TypeScript hides of its classes are tried as well.
import { CoreWorld } from './core-world.mjs';
import { Failure } from './judge.mjs';
import { mutate } from './mutate.mjs';
import { prepare } from './prepare.mjs';
import { Sequence } from './sequence.mjs';
import { hostileValue } from './values.mjs';

export class CoreSequence extends Sequence {
  #contexts = [];

  constructor(core, random, subject, tools) {
    super(new CoreWorld(core, random), subject, tools);
  }

  async prepare() {
    await super.prepare();
    prepare(this.world, (line) => {
      this.say(line);
    });
    this.#contexts = this.#openContexts();
  }

  get ownSteps() {
    return {
      construct: () => {
        this.#construct();
      },
      internal: () => {
        this.#internal();
      },
    };
  }
  get ownWeights() {
    return { construct: 1, internal: 2 };
  }

  receiver(kind) {
    return kind === 'WorkCompletion' ? this.random.pick(this.world.completions) : super.receiver(kind);
  }

  keep(result) {
    const { core, completions } = this.world;
    if (result instanceof core.WorkCompletion) completions.push(result);
    else super.keep(result);
  }

  /** An open receiver holds its context. */
  mustClose() {
    return super.mustClose() || this.world.all().some((each) => this.world.isOpenReceiver(each));
  }

  async closeAll() {
    await super.closeAll();
    const contexts = new Set([...this.#contexts, ...this.#openContexts()]);
    for (const context of this.random.shuffled([...contexts])) context.close();
    const open = this.world.all().filter((each) => each.closed === false);
    if (open.length > 0) throw new Failure(`${this.world.text(open[0])} is open after its context's close`);
  }

  #openContexts() {
    return this.world.all().filter((each) => this.world.kindOf(each) === 'Context');
  }

  /** A constructor that is not for programs, or VerbsError's. */
  #construct() {
    const { world, random, surface } = this;
    const name = random.pick([...surface.classes.keys()]);
    const real = world.anyResource();
    const handle = real?.[Symbol.for('@verbs/core.handle')];
    const made = { handle, id: 1, cqe: 1, qpNum: 1, dmHandle: 1, cap: {} };
    const args = random.shuffled([real, handle, made, { pd: real, context: real, made, attr: {} }, []]);
    if (random.oneIn(2)) mutate(world, args);
    this.say(`new ${name}(${args.map((arg) => world.text(arg)).join(', ')})`);
    this.guarded(() => {
      Reflect.construct(surface.classes.get(name).constructor, args);
    });
  }

  /** What TypeScript hides from programs. */
  #internal() {
    const { world, random } = this;
    const [kind, { members }] = random.pick([...this.surface.classes]);
    // Only constructors have a parent adopt a child. A program that forges a child there spoils nothing but the parent's
    // close, which then throws an error.
    const member = random.pick(members.filter(({ internal, text }) => internal && !text.includes('adopt')));
    const receiver = world.object(kind);
    if (member === undefined || receiver === undefined) return;
    const args = Array.from({ length: random.below(3) }, () => hostileValue(world));
    this.say(`${world.text(receiver)}.${member.text} internally (${args.map((arg) => world.text(arg)).join(', ')})`);
    this.guarded(() => {
      const value = receiver[member.key];
      if (typeof value === 'function') this.absorb(member.text, receiver, Reflect.apply(value, receiver, args));
    });
  }
}
