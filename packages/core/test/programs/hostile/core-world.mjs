// What the sequences of @verbs/core have besides: completions, and the marks that its objects have inside.
import { NUMBERS } from './values.mjs';
import { World } from './world.mjs';

export class CoreWorld extends World {
  core;
  completions = [];

  constructor(core, random) {
    super(
      Object.entries(core).filter(([name, { prototype } = {}]) => prototype !== undefined && isKept(name, prototype)),
      random,
    );
    this.core = core;
  }

  get ownValues() {
    return {
      forgery: () => this.#forgery(),
      completion: () => this.random.pick(this.completions) ?? {},
    };
  }
  usedBuffer() {
    return this.object('MemoryRegion')?.buffer;
  }
  /** It holds its context until that is closed, and then the end of the sequence has to know it. */
  mayForget(object) {
    return !this.isOpenReceiver(object);
  }

  isOpenReceiver(object) {
    return object instanceof this.core.Receiver && !object.closed;
  }

  /** An object with the inner marks of a resource, right or wrong. */
  #forgery() {
    const real = this.anyResource();
    const mark = (name) => Symbol.for(`@verbs/core.${name}`);
    const { random } = this;
    return {
      closed: random.pick([false, 0, undefined]),
      length: random.pick([...NUMBERS, 64]),
      [mark('kind')]: random.oneIn(3)
        ? real?.[mark('kind')]
        : random.pick(['MemoryRegion', 'QueuePair', 'CompletionQueue']),
      [mark('handle')]: random.oneIn(2) ? real?.[mark('handle')] : {},
      [mark('requestId')]: random.oneIn(2) ? real?.[mark('requestId')] : random.pick([...NUMBERS, 1 << 22, 'x']),
    };
  }
}

/** Objects with a lifetime, batches and messages. */
function isKept(name, prototype) {
  return 'closed' in prototype || name.endsWith('Batch') || name === 'Message';
}
