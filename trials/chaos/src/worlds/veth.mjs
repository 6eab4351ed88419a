/** @import { World } from './world.mjs' */
/** @import { ChildProcess } from 'node:child_process' */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

const ADDRESSES = /** @type {const} */ (['10.77.0.1', '10.77.0.2']);

/** @param {number} pid */
const inside = (pid) => ['nsenter', '-t', String(pid), '-U', '-n', '--preserve-credentials', '--'];

/**
 * A process that does nothing but hold a network namespace.
 * @param {string[]} command
 */
async function holder(command) {
  const [program = '', ...args] = command;
  // cat ends by itself when this process does.
  const child = spawn(program, [...args, 'sh', '-c', 'echo; exec cat'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (text) => (complaint += String(text)));
  const started = await Promise.race([
    once(child.stdout, 'data').then(() => true),
    once(child, 'close').then(() => false),
    once(child, 'error').then(() => false),
  ]);
  if (!started || child.pid === undefined) throw new Error(`${command.join(' ')}: ${complaint.trim()}`);
  return { child, pid: child.pid };
}

/** @param {string[]} wrap @param {string} script */
export function inNamespace(wrap, script) {
  const [program, ...args] = [...wrap, 'sh', '-ec', script];
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${script}: ${stderr.trim()}`);
}

/**
 * Two processes in network namespaces of their own, with a pair of virtual Ethernet interfaces in between. Needs no root.
 * @returns {Promise<World>}
 */
export async function veth() {
  /** @type {ChildProcess[]} */
  const children = [];
  const close = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  try {
    const one = await holder(['unshare', '--user', '--map-root-user', '--net', '--']);
    children.push(one.child);
    const two = await holder([...inside(one.pid).filter((word) => word !== '-n'), 'unshare', '--net', '--']);
    children.push(two.child);
    const [wrap, other] = [inside(one.pid), inside(two.pid)];
    inNamespace(
      wrap,
      `ip link set lo up
       ip link add v0 type veth peer name v1 netns ${two.pid}
       ip addr add ${ADDRESSES[0]}/24 dev v0
       ip link set v0 up`,
    );
    inNamespace(
      other,
      `ip link set lo up
       ip addr add ${ADDRESSES[1]}/24 dev v1
       ip link set v1 up`,
    );
    const [a, b] = ADDRESSES;
    return {
      link: 'veth',
      processes: 2,
      places: [
        { address: a, wrap, interface: 'v0' },
        { address: b, wrap: other, interface: 'v1' },
      ],
      options: 'mtu=1024',
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}
