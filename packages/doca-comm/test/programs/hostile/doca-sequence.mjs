// A sequence of @verbs/doca-comm: what it closes, and in which order, is a part of it.
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../../../core/test/programs/hostile/judge.mjs';
import { Sequence } from '../../../../core/test/programs/hostile/sequence.mjs';
import { DocaWorld } from './doca-world.mjs';
import { prepare } from './prepare.mjs';

/** Milliseconds until what the collection frees has let go of a device. */
const FREED = 5000;

/** What has to be closed so that a call on `owner` ends. */
function endOf(owner) {
  return owner?.connection?.end ?? owner?.end ?? owner?.endpoint ?? owner;
}

export class DocaSequence extends Sequence {
  constructor(api, random, subject, tools, index) {
    super(new DocaWorld(api, random, index), subject, tools);
    this.world.absorb = (name, owner, result) => {
      this.absorb(name, owner, result);
    };
  }

  async prepare() {
    // Of the sequence before.
    this.world.api.setFaults(null);
    await prepare(
      this.world,
      (line) => {
        this.say(line);
      },
      (endpoint) => {
        this.#listen(endpoint);
      },
    );
  }

  /** Listeners that do harm in the middle of what calls them. */
  #listen(endpoint) {
    for (const event of ['peer', 'lost']) {
      endpoint.on(event, (peer) => {
        this.world.take(peer);
        this.guarded(() => `listener of ${event}: ${this.world.harm()}`);
      });
    }
  }

  get ownSteps() {
    return { progress: () => this.guarded(() => this.#progress()), pause: () => delay(1) };
  }
  get ownWeights() {
    return { progress: 6, pause: 3 };
  }

  receiver(kind) {
    return kind === 'DocaError' ? new this.world.api.DocaError(6, 'doca_pe_create') : super.receiver(kind);
  }

  /** Everything that happens happens inside of it. */
  #progress() {
    const kind = this.random.pick(['Server', 'Client', 'Consumer', 'Producer']);
    this.world.object(kind)?.progress();
    return `progress of a ${kind}`;
  }

  async closeAll() {
    this.world.api.setFaults(null);
    this.#closeAtRandom();
    await this.settled();
    for (const each of this.#lastOnes()) await this.#closeFreed(each);
  }

  #closeAtRandom() {
    const ends = () => this.waiting().map(({ owner }) => endOf(owner));
    const known = () => [...this.world.all(), ...ends().filter((each) => this.world.kindOf(each) !== undefined)];
    // What is closed may still give objects to those who wait.
    for (let rounds = 0; rounds < 3; rounds++) {
      for (const each of this.random.shuffled([...new Set(known())])) this.guarded(() => this.world.closeOne(each));
    }
    for (const each of known()) if (each.closed === false) each.close();
  }

  /** Closes what has come since, and gives what must be closed in the end. Nothing else knows the objects any more. */
  #lastOnes() {
    for (const each of this.#open()) each.close();
    const [open] = this.#open();
    if (open !== undefined) throw new Failure(`${this.world.text(open)} is open after its close`);
    const last = ['Mmap', 'Representor', 'Device'].flatMap((kind) => this.world.pools.get(kind) ?? []);
    // What the sequence has forgotten may be known to these only.
    this.world.pools.clear();
    for (const wait of this.world.waits) wait.owner = undefined;
    return last;
  }

  #open() {
    return this.world.all().filter(({ closed }) => closed === false);
  }

  /** What uses it may be forgotten, and wait for its collection. */
  async #closeFreed(object) {
    for (const limit = Date.now() + FREED; ; await delay(1)) {
      try {
        object.close();
        return;
      } catch (error) {
        if (Date.now() > limit) throw new Failure(`${this.world.text(object)} is in use at the end`, error);
      }
      globalThis.gc();
      this.subject.counts();
    }
  }
}
