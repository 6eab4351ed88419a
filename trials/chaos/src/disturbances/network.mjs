/** @import { Disturbance } from './disturbance.mjs' */
/** @import { Scene } from '../harness/scene.mjs' */
import { claim } from '../harness/claimant.mjs';
import { inNamespace } from '../worlds/veth.mjs';
import { all, everywhere, maybeOver, unharmed } from './disturbance.mjs';

/** A while in which the retries may or may not run out. @param {Scene} scene */
const aWhile = ({ random }) => 50 * 80 ** random.next();

/** @param {Scene} scene @param {(place: { address: string, interface: string }) => [string, string]} commands */
async function forAWhile(scene, commands) {
  const place = scene.world.places[scene.target];
  if (place === undefined) throw new Error('no place');
  const [harm, repair] = commands(place);
  inNamespace(place.wrap, harm);
  await scene.sleep(aWhile(scene));
  inNamespace(place.wrap, repair);
}

/** @type {Disturbance} */
const address = {
  kind: 'address',
  about: "the interface's address is removed and added again",
  links: ['veth'],
  packages: all,
  async act(scene) {
    await forAWhile(scene, ({ address: own, interface: name }) => [
      `ip addr del ${own}/24 dev ${name}`,
      `ip addr add ${own}/24 dev ${name}`,
    ]);
    return { effects: maybeOver };
  },
};

/** @type {Disturbance} */
const fight = {
  kind: 'fight',
  about: 'other processes come to the same address and go, again and again',
  // Within a process no address is claimed.
  links: ['loopback', 'shm', 'veth'],
  packages: all,
  async act({ world, target, stage, random }) {
    const place = world.places[target];
    if (place === undefined) throw new Error('no place');
    const text = `claimant0,addr=${place.address},${world.options}`;
    const claimants = Array.from({ length: 1 + random.below(3) }, () =>
      claim(place.wrap, { ...stage.env, VERBS_SOFT: text }, 2 + random.below(20)),
    );
    // A device whose packets a model hides or rewrites has its address for itself.
    const fits = (/** @type {string} */ outcome) => ['opened', 'EADDRINUSE'].includes(outcome);
    for (const outcome of await Promise.all(claimants))
      if (!outcome.split(' ').every(fits)) throw new Error(`a claimant of ${place.address} saw: ${outcome}`);
    return { effects: unharmed };
  },
};

/** @type {Disturbance} */
const link = {
  kind: 'link',
  about: 'the interface goes down and up again',
  links: ['veth'],
  packages: all,
  async act(scene) {
    await forAWhile(scene, ({ interface: name }) => [`ip link set ${name} down`, `ip link set ${name} up`]);
    return { effects: maybeOver };
  },
};

/** @type {Disturbance} */
const mtu = {
  kind: 'mtu',
  about: 'the MTU of the interface becomes too small for the packets, and large again',
  links: ['veth'],
  packages: all,
  async act(scene) {
    await forAWhile(scene, ({ interface: name }) => [`ip link set ${name} mtu 600`, `ip link set ${name} mtu 1500`]);
    return { effects: maybeOver };
  },
};

/** ENOBUFS, ENOMEM, EPERM (a firewall), ENETUNREACH of errno.h. */
const SEND_ERRORS = /** @type {const} */ ([
  ['ENOBUFS', 105],
  ['ENOMEM', 12],
  ['EPERM', 1],
  ['ENETUNREACH', 101],
]);

/** @type {Disturbance} */
const send = {
  kind: 'send',
  about: 'the kernel rejects every datagram for a while: ENOBUFS, ENOMEM, EPERM, ENETUNREACH',
  links: ['loopback', 'veth'],
  packages: all,
  async act(scene) {
    const [name, number] = scene.random.pick(SEND_ERRORS);
    await scene.victim.gremlin.do('sendfail', number);
    await scene.sleep(aWhile(scene));
    const failed = await scene.victim.gremlin.do('sendfail', 0);
    return { effects: maybeOver, note: failed > 0 ? name : 'no send' };
  },
};

/** @type {Disturbance} */
const buffers = {
  kind: 'buffers',
  about: 'the UDP sockets get the smallest buffers that the kernel gives',
  links: ['loopback', 'veth'],
  packages: all,
  async act({ victim, random, sleep }) {
    const changed = await victim.gremlin.do('buffers', 1);
    if (changed < 1) throw new Error('the process has no UDP socket');
    await sleep(random.between(100, 1000));
    await victim.gremlin.do('buffers', 1 << 20);
    // Lost packets are sent again; with buffers for one of them, the retries may run out.
    return { effects: maybeOver };
  },
};

/** @type {Disturbance} */
const clock = {
  kind: 'clock',
  about: 'steps of the wall clock, hours and years, forwards and back (a preloaded library; time namespaces have none)',
  links: everywhere,
  packages: all,
  async act({ victim, random, sleep }) {
    for (let count = 1 + random.below(5); count > 0; count--) {
      const magnitude = 10 ** random.between(2, 11);
      await victim.gremlin.do('clock', Math.round(random.pick([-1, 1]) * magnitude));
      await sleep(random.between(5, 100));
    }
    await victim.gremlin.do('clock', 0);
    return { effects: unharmed };
  },
};

export const network = [address, fight, link, mtu, send, buffers, clock];
