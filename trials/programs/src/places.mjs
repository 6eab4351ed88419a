// Where the two ends of a case run: two processes of this machine, or two network namespaces with a virtual cable.
import { spawnSync } from 'node:child_process';
import process from 'node:process';

/**
 * @typedef {object} End
 * @property {string[]} prefix of the command
 * @property {string} configuration of the software NIC
 * @property {string} address of its device, for the other end
 */

/**
 * @typedef {object} Place
 * @property {string} name
 * @property {string[]} compiler in front of the command of a compiler
 * @property {string | undefined} cannot why nothing can run here
 * @property {End} server
 * @property {End} client
 * @property {() => void} remove
 */

const addresses = ['10.66.7.1', '10.66.7.2'];

/** @returns {Generator<Place>} */
export function* places() {
  const end = { prefix: [], configuration: 'soft0', address: '127.0.0.1' };
  yield { name: 'processes', compiler: [], cannot: undefined, server: end, client: end, remove: () => undefined };
  yield namespaces();
}

/** @returns {Place} */
function namespaces() {
  const names = ['server', 'client'].map((end) => `verbs-${process.pid}-${end}`);
  const [server, client] = names.map((name, i) => ({
    prefix: ['ip', 'netns', 'exec', name],
    configuration: 'soft0', // the addresses are the host's
    address: addresses[i] ?? '',
  }));
  if (!server || !client) throw new Error('two ends');
  const remove = () => {
    for (const name of names) ip(`netns del ${name}`);
  };
  const failed = [
    ...names.map((name) => `netns add ${name}`),
    `link add va netns ${names[0]} mtu 9000 type veth peer name vb netns ${names[1]} mtu 9000`,
    ...names.flatMap((name, i) => [
      `-n ${name} link set lo up`,
      `-n ${name} addr add ${addresses[i]}/24 dev v${'ab'[i]}`,
      `-n ${name} link set v${'ab'[i]} up`,
    ]),
  ].find((command) => !ip(command));
  const cannot = failed === undefined ? undefined : `network namespaces need root: ip ${failed}`;
  return { name: 'namespaces', compiler: [], cannot, server, client, remove };
}

/** @param {string} command */
function ip(command) {
  return spawnSync('ip', command.split(' '), { stdio: 'ignore' }).status === 0;
}
