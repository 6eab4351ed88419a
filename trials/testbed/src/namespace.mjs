import { spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { Problem } from '../../../tools/setup/src/problem.mjs';

/** Set in the process that is inside. */
const marker = 'VERBS_TESTBED_NAMESPACE';

/** The addresses of the two ends of the wire between host and guest. */
export const addresses = {
  host: { 4: '10.77.0.1', 6: 'fd77::1' },
  guest: { 4: '10.77.0.2', 6: 'fd77::2' },
};

/** The network interface of the host's end. */
export const tap = 'tap0';

/** The Ethernet addresses of the two ends. */
const ethernet = { host: '02:00:00:4d:00:01', guest: '02:00:00:4d:00:02' };

/**
 * The words for `ip` that make the other end known for ever: a fault must not hit the question for its Ethernet address,
 * whose repetition takes longer than a queue pair waits.
 * @param {Record<4 | 6, string>} other
 * @param {string} address
 * @param {string} device
 */
function neighbours(other, address, device) {
  return [other[4], other[6]].map((ip) => `neighbour replace ${ip} lladdr ${address} nud permanent dev ${device}`);
}

/** Makes rxe0 on the guest's end of the wire. */
export const guestNetwork = `
ip link set eth0 address ${ethernet.guest} mtu 9000 up
ip address add ${addresses.guest[4]}/24 dev eth0
ip address add ${addresses.guest[6]}/64 dev eth0 nodad
ip route add 224.0.0.0/4 dev eth0
${neighbours(addresses.host, ethernet.host, 'eth0')
  .map((words) => `ip ${words}`)
  .join('\n')}
rdma link add rxe0 type rxe netdev eth0
`;

/**
 * Runs the same program again in a network namespace of its own that has the wire, unless this is that process already.
 * Without root, it is root of a user namespace there.
 * @returns {Promise<number> | undefined} the exit status of the program inside; undefined: this process is inside
 */
export function enterNamespace() {
  if (process.env[marker] !== undefined) {
    makeWire();
    return undefined;
  }
  const user = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const child = spawn('unshare', ['--net', ...user, process.execPath, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, [marker]: '1' },
  });
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      reject(new Problem(`cannot run unshare: ${error.message}`));
    });
    child.once('close', (status, signal) => {
      resolve(status ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

function makeWire() {
  ip('link set lo up');
  ip(`tuntap add ${tap} mode tap`);
  ip(`link set ${tap} address ${ethernet.host} mtu 9000 up`);
  ip(`address add ${addresses.host[4]}/24 dev ${tap}`);
  ip(`address add ${addresses.host[6]}/64 dev ${tap} nodad`);
  for (const words of neighbours(addresses.guest, ethernet.guest, tap)) ip(words);
}

/** @param {string} words */
function ip(words) {
  const { status, stderr, error } = spawnSync('ip', words.split(' '), { encoding: 'utf8' });
  if (status !== 0) throw new Problem(`ip ${words}: ${error?.message ?? stderr}`);
}
