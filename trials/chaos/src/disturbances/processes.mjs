/** @import { Disturbance } from './disturbance.mjs' */
import { cannotDebug, debug } from '../harness/debugger.mjs';
import { all, effects, everywhere, inNode, maybeOver, unharmed } from './disturbance.mjs';

/** A process stands still for a while. @type {Disturbance} */
const stop = {
  kind: 'stop',
  about: 'SIGSTOP, and SIGCONT after 0.1 to 10 s',
  links: everywhere,
  packages: all,
  async act({ victim, random, sleep, world }) {
    // Short ones are as likely as long ones.
    const milliseconds = 100 * 100 ** random.next();
    victim.child.kill('SIGSTOP');
    await sleep(milliseconds);
    victim.child.kill('SIGCONT');
    // Within the retries nothing happens; with both ends in one process neither misses the other. A Comm Channel lets a
    // process stand still for 1.3 s.
    const short = milliseconds < 600;
    return {
      effects: short || world.processes === 1 ? unharmed : maybeOver,
      note: short ? 'under 0.6 s' : milliseconds < 3000 ? 'to 3 s' : 'over 3 s',
    };
  },
};

/** @type {Disturbance} */
const kill = {
  kind: 'kill',
  about: 'SIGKILL, and a new process at the same address',
  links: everywhere,
  packages: all,
  act(scene) {
    const { victim, target } = scene;
    victim.mayDie = true;
    victim.child.kill('SIGKILL');
    return Promise.resolve({ effects: effects(target, ['ok'], ['ok', 'gone', 'flushed']), dead: victim.ends });
  },
};

/** @type {Disturbance} */
const fork = {
  kind: 'fork',
  about: 'the process forks, and forks and executes, a few times',
  links: everywhere,
  packages: all,
  async act({ victim, random }) {
    const failed = await victim.gremlin.do('fork', 2 + random.below(12), 0);
    const failedToo = await victim.gremlin.do('fork', 2 + random.below(12), 1);
    if (failed < 0 || failedToo < 0) throw new Error(`a child did not end well: errno ${Math.min(failed, failedToo)}`);
    const { statuses } = await victim.ask('spawn', { argument: { count: 1 + random.below(4) } });
    if (statuses.some((/** @type {number} */ status) => status !== 0))
      throw new Error(`children of the program: ${statuses}`);
    return { effects: unharmed };
  },
};

/** @type {Disturbance} */
const worker = {
  kind: 'worker',
  about: 'the worker thread of an end is terminated',
  links: everywhere,
  packages: inNode,
  workers: true,
  async act({ victim, target }) {
    await victim.ask('terminate', { argument: { end: victim.ends.indexOf(target) } });
    // Its regions may be gone a moment before its queue pairs.
    return { effects: effects(target, ['ok'], ['ok', 'gone', 'flushed', 'remote']), fresh: [target] };
  },
};

/** @type {Disturbance} */
const trap = {
  kind: 'trap',
  about: 'SIGTRAP again and again, which the program handles',
  links: everywhere,
  packages: all,
  async prepare({ victims }) {
    for (const victim of victims) await victim.ask('on-signal', { argument: { signal: 'SIGTRAP' } });
  },
  async act({ victim, random, sleep }) {
    for (let count = 10 + random.below(40); count > 0; count--) {
      victim.child.kill('SIGTRAP');
      await sleep(random.between(0, 10));
    }
    return { effects: unharmed };
  },
};

/** All threads stand still at once, and system calls that wait are interrupted. @type {Disturbance} */
const debuggerComes = {
  kind: 'debugger',
  about: 'a debugger attaches to all threads, and detaches after 0.1 to 2 s, once or twice',
  links: everywhere,
  packages: all,
  impossible: cannotDebug,
  async act({ victim, random, sleep, world }) {
    const begin = performance.now();
    await debug(victim.pid, 100 * 20 ** random.next());
    if (random.below(2) === 1) {
      await sleep(random.between(20, 200));
      await debug(victim.pid, 100 * 20 ** random.next());
    }
    const short = performance.now() - begin < 600;
    return {
      effects: short || world.processes === 1 ? unharmed : maybeOver,
      note: short ? 'under 0.6 s' : 'over 0.6 s',
    };
  },
};

export const processes = [stop, kill, fork, worker, trap, debuggerComes];
