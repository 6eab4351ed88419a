// Kills one after the other, some at a time, and one program that survives them all.
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { connect, listen, softModel } from '@verbs/rdmacm';
import { dropInDirectory } from '@verbs/soft';
import { held, leftovers } from '../../victims/leftovers.mjs';
import { Random, seedOf } from '../random.mjs';
import { steps } from './steps.mjs';
import { Survivor } from './survivor.mjs';
import { buildVictim, Victim } from './victim.mjs';

/** @import { ConnectionRequest } from '@verbs/rdmacm' */
/** @import { Step } from './steps.mjs' */
/** @import { Answer } from './survivor.mjs' */

const library = 'soft';
/** What threads and identifiers that wait for late packets may take to end. */
const REST_MS = 10_000;
const TIMEWAIT_MS = 600;

/**
 * @typedef {object} Kill
 * @property {Step} step
 * @property {number} seed
 * @property {string[]} outcomes
 * @property {string[]} problems
 * @property {{ setup: number, standing: number }} slowest
 */

/**
 * @param {{ kills: number, seed: number, jobs: number, slack: number }} options
 * @param {NodeJS.ProcessEnv} env
 * @param {(kill: Kill, count: number) => void} tell
 */
export async function series({ kills, seed, jobs, slack }, env, tell) {
  const program = buildVictim(env);
  const directory = dropInDirectory([softModel]);
  const stage = new Stage(program, { ...env, LD_LIBRARY_PATH: directory }, slack);
  try {
    // What a process has after its first connections it keeps.
    const first = steps.filter(({ name }) => name === 'disconnected');
    await Promise.all(first.map((step) => stage.run(step, seed)));
    const baseline = await stage.rest();
    /** @type {Kill[]} */
    const results = [];
    let begun = 0;
    const work = async () => {
      while (begun < kills) {
        const own = seedOf(seed, begun);
        const step = /** @type {Step} */ (steps[begun++ % steps.length]);
        const result = await stage.run(step, own);
        results.push(result);
        tell(result, results.length);
      }
    };
    await Promise.all(Array.from({ length: jobs }, work));
    return { results, left: await stage.left(baseline) };
  } finally {
    stage.close();
    rmSync(directory, { recursive: true, force: true });
    rmSync(program, { force: true });
  }
}

/** A step beyond the request needs an answer before the kill. @param {Step} step @returns {Answer[]} */
function answersTo({ name }) {
  if (name === 'requesting') return ['accept', 'late', 'reject', 'late reject'];
  return name === 'any' ? ['accept', 'accept', 'accept', 'late'] : ['accept'];
}

class Stage {
  /** @type {Map<number, (request: ConnectionRequest) => void>} */
  #takers = new Map();
  #number = 0;

  /** @param {string} program @param {NodeJS.ProcessEnv} env @param {number} slack */
  constructor(program, env, slack) {
    this.program = program;
    this.env = env;
    this.slack = slack;
    this.server = listen({ library, backlog: 1024 });
    void this.#serve();
  }

  async #serve() {
    for await (const request of this.server) {
      const number = new DataView(request.privateData.buffer, request.privateData.byteOffset).getUint32(0, true);
      const take = this.#takers.get(number);
      // Of a victim whose run is over: it was held back on its way.
      if (take === undefined) request.close();
      else take(request);
    }
  }

  /** @param {Step} step @param {number} seed @returns {Promise<Kill>} */
  async run(step, seed) {
    const random = new Random(seed);
    const number = ++this.#number;
    const [address] = this.server.addresses();
    const { port } = this.server.address();
    const where = step.role === 'connect' ? [String(address), String(port)] : [];
    const victim = new Victim(this.program, [step.role, ...where, step.name, String(number)], this.env);
    const survivor = new Survivor(random, victim.killed, this.slack);
    /** @type {Promise<void>[]} */
    const ends = [];
    this.#takers.set(number, (request) => {
      ends.push(survivor.answer(request, answersTo(step)));
    });
    try {
      const [host = '', service = ''] = step.role === 'listen' ? await victim.line('listening') : [];
      const dial = () => connect({ host, port: Number(service), library });
      if (step.role === 'listen' && step.name === 'any') ends.push(survivor.connectAgain(dial));
      else if (step.role === 'listen' && step.name !== 'listening') ends.push(survivor.connect(dial()));
      await victim.line('at');
      await sleep(random.between(0, 60));
      await victim.kill();
      if (step.name === 'listening') ends.push(survivor.connect(dial()));
    } catch (error) {
      survivor.problems.push(/** @type {Error} */ (error).message);
      await victim.kill().catch(() => undefined);
    }
    // A request of the dead may still be on its way to this process.
    do await Promise.all(ends.splice(0));
    while (ends.length > 0 || (await sleep(20, false)));
    this.#takers.delete(number);
    const { outcomes, problems, slowest } = survivor;
    return { step, seed, outcomes, problems, slowest };
  }

  /** What the process holds once it is quiet: twice the same. */
  async rest() {
    let before = held();
    for (const deadline = performance.now() + REST_MS; performance.now() < deadline;) {
      await sleep(TIMEWAIT_MS);
      const now = held();
      if (isDeepStrictEqual(now, before)) break;
      before = now;
    }
    return before;
  }

  /** @param {ReturnType<typeof held>} baseline @returns {Promise<string[]>} */
  left(baseline) {
    return leftovers(baseline, { milliseconds: REST_MS });
  }

  close() {
    this.server.close();
  }
}
