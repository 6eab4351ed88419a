/** @import { Disturbance } from './disturbance.mjs' */
/** @import { Scene } from '../harness/scene.mjs' */
import { effects, everywhere, withMemory } from './disturbance.mjs';

/** PROT_NONE, PROT_READ and both rights, of sys/mman.h. */
const [NONE, READ, BOTH] = [0, 1, 3];

/** EEXIST: what was unmapped is somebody else's by now. */
const TAKEN = -17;

/** A few pages of the target's window. @param {Scene} scene */
function somePages({ pages, target, random }) {
  const { addr = '0', length = 0 } = pages[target] ?? {};
  const count = length / 4096;
  const first = random.below(count);
  // The traffic comes everywhere within milliseconds, if it is not one page in a corner.
  const size = Math.min(count - first, 8 + random.below(24));
  return [String(BigInt(addr) + BigInt(first * 4096)), size * 4096];
}

/** The right error of an end under whose window memory goes away. @param {Scene} scene */
const lostMemory = ({ target }) =>
  effects(target, ['ok', 'gone', 'flushed', 'local'], ['ok', 'remote', 'flushed', 'gone']);

/** @type {Disturbance} */
const protect = {
  kind: 'protect',
  about: 'the memory under a region becomes inaccessible, or read-only',
  links: everywhere,
  packages: withMemory,
  async act(scene) {
    const { victim, random, sleep } = scene;
    const [addr, length] = somePages(scene);
    const prot = random.pick([NONE, READ]);
    await victim.gremlin.do('protect', addr ?? 0, length ?? 0, prot);
    await sleep(random.between(20, 300));
    await victim.gremlin.do('protect', addr ?? 0, length ?? 0, BOTH);
    return { effects: lostMemory(scene), note: prot === NONE ? 'none' : 'read-only' };
  },
};

/** @param {Scene} scene */
async function unmapForAWhile(scene) {
  const { victim, random, sleep } = scene;
  const [addr, length] = somePages(scene);
  await victim.gremlin.do('unmap', addr ?? 0, length ?? 0);
  await sleep(random.between(20, 300));
  const failed = await victim.gremlin.do('remap', addr ?? 0, length ?? 0);
  // Then nobody may free it, and the process cannot end in order.
  if (failed === TAKEN) victim.child.kill('SIGKILL');
  return failed === TAKEN ? victim.ends : [];
}

/** @type {Disturbance} */
const unmap = {
  kind: 'unmap',
  about: 'the memory under a region is unmapped',
  links: everywhere,
  packages: withMemory,
  async act(scene) {
    return { effects: lostMemory(scene), dead: await unmapForAWhile(scene) };
  },
};

/** @type {Disturbance} */
const blocked = {
  kind: 'blocked',
  about: 'all threads block all signals, and then memory is unmapped',
  links: everywhere,
  packages: withMemory,
  async act(scene) {
    const { victim } = scene;
    if ((await victim.gremlin.do('block', 1)) < 1) throw new Error('no thread was reached');
    const dead = await unmapForAWhile(scene);
    await victim.gremlin.do('block', 0);
    return { effects: lostMemory(scene), dead };
  },
};

/** SA_ONSTACK and SA_NODEFER of signal.h. */
const HANDLER_FLAGS = [0, 0x08000000, 0x40000000, 0x48000000];

/** @type {Disturbance} */
const handler = {
  kind: 'handler',
  about: 'a crash reporter puts itself in front of all handlers of faults, and then memory is unmapped',
  links: everywhere,
  packages: withMemory,
  async act(scene) {
    const { victim, random, sleep } = scene;
    const flags = random.pick(HANDLER_FLAGS);
    await victim.gremlin.do('handler', flags);
    await sleep(random.between(0, 50));
    const dead = await unmapForAWhile(scene);
    // The program's own faults still arrive: those of WebAssembly, or those that a program in C recovers from.
    if (dead.length === 0) {
      const { traps } = await victim.ask('trap');
      if (traps !== 10) throw new Error(`${String(traps)} of 10 faults of the program itself arrived`);
    }
    const names = [flags & 0x08000000 ? 'onstack' : 'no stack', ...(flags & 0x40000000 ? ['nodefer'] : [])];
    return { effects: lostMemory(scene), dead, note: names.join(', ') };
  },
};

export const memory = [protect, unmap, blocked, handler];
