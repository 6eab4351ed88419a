// Where the two ends of a case run, with nothing configured: two processes of this machine at the loopback address, two
// processes of one host at its address, and two hosts with a cable between them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/**
 * @typedef {object} End
 * @property {string[]} prefix of the command
 * @property {string} address for the other end
 */

/**
 * @typedef {object} Place
 * @property {'processes' | 'host' | 'hosts'} name
 * @property {string[]} compiler in front of the command of a compiler
 * @property {string | undefined} cannot why nothing can run here
 * @property {End} server
 * @property {End} client
 * @property {Readonly<Record<string, string>>} environment what `verbs run` adds there to that of the machine
 * @property {string} [remoteShell] a program in place of ssh, for launchers that start something on both hosts
 * @property {() => number} [datagrams] the number of UDP datagrams that both hosts have taken
 * @property {() => void} remove
 */

/** Those of docs/guides/two-hosts.md. */
const addresses = ['10.0.0.1', '10.0.0.2'];

/** The first entry of a GID table leads to this machine only (packages/cli/src/launch/launch.ts). */
const ofHosts = { UCX_IB_GID_INDEX: '1', FI_VERBS_GID_IDX: '1' };

/** @returns {Generator<Place>} */
export function* places() {
  yield processes();
  const { server, client, remove, ...hosts } = makeHosts();
  try {
    yield { ...hosts, name: 'host', server, client: server, remove: () => undefined };
    const remoteShell = hosts.cannot === undefined ? writeShell([server, client]) : undefined;
    const datagrams = () => datagramsOf(server) + datagramsOf(client);
    const gone = () => {
      if (remoteShell !== undefined) rmSync(join(remoteShell, '..'), { recursive: true });
    };
    yield { ...hosts, name: 'hosts', server, client, datagrams, ...(remoteShell && { remoteShell }), remove: gone };
  } finally {
    remove();
  }
}

/**
 * Two processes of this machine.
 * @param {string[]} [prefix] of both, and of compilers
 * @returns {Place}
 */
export function processes(prefix = []) {
  const end = { prefix, address: '127.0.0.1' };
  return {
    name: 'processes',
    compiler: prefix,
    cannot: undefined,
    server: end,
    client: end,
    environment: {},
    remove: () => undefined,
  };
}

/** Namespaces make a host: of networks, of names, and of shared memory, by which UCX tells machines apart. */
function makeHosts() {
  const names = ['server', 'client'].map((end) => `verbs-${process.pid}-${end}`);
  const [server, client] = names.map((name, i) => ({
    prefix: [...words(`ip netns exec ${name} unshare --uts --ipc sh -c`), 'hostname "$0" && exec "$@"', name],
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
  if (failed === undefined) names.forEach(awaitCable);
  /** @type {string[]} */
  const compiler = [];
  return { compiler, cannot, server, client, environment: ofHosts, remove };
}

/**
 * The end of the cable is there at once, and takes a moment until it carries: before that, `verbs run` sees no network.
 * @param {string} name
 * @param {number} index
 */
function awaitCable(name, index) {
  const show = ['-n', name, 'link', 'show', `v${'ab'[index]}`];
  while (!spawnSync('ip', show, { encoding: 'utf8' }).stdout.includes('LOWER_UP')) spawnSync('sleep', ['0.05']);
}

/**
 * `[OPTION…] HOST COMMAND…`, as ssh is called: the command is for a shell of that host.
 * @param {End[]} ends
 */
function writeShell(ends) {
  const file = join(mkdtempSync(join(tmpdir(), 'verbs-shell-')), 'shell');
  const quoted = (/** @type {string} */ word) => `'${word}'`;
  const cases = ends.map(({ prefix, address }) => `${address}) exec ${prefix.map(quoted).join(' ')} sh -c "$*" ;;`);
  const script = [
    '#!/bin/sh',
    'while [ "${1#-}" != "$1" ]; do shift; done',
    'host=$1; shift',
    'case $host in',
    ...cases,
    'esac',
    'echo "there is no host $host" >&2; exit 255',
  ];
  writeFileSync(file, `${script.join('\n')}\n`, { mode: 0o755 });
  return file;
}

/** @param {End} end */
function datagramsOf({ prefix }) {
  const { stdout } = spawnSync('env', [...prefix, 'cat', '/proc/net/snmp'], { encoding: 'utf8' });
  return Number(/^Udp: (\d+)/m.exec(stdout)?.[1] ?? NaN);
}

/** @param {string} text */
function words(text) {
  return text.split(' ');
}

/** @param {string} command */
function ip(command) {
  return spawnSync('ip', words(command), { stdio: 'ignore' }).status === 0;
}
