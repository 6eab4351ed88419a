// The guide of two hosts as it stands: its commands on two hosts, with nothing configured, and its programs.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { root } from '../../../../tools/setup/src/paths.mjs';
import { Problem } from '../../../../tools/setup/src/problem.mjs';
import { words } from './case.mjs';
import { compileMpi } from './mpi.mjs';
import { whyNoTransport } from './ucx.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

const guide = 'docs/guides/two-hosts.md';

/** What a client prints when all went well, by a word of its command. */
const prints = [
  { word: 'verbs ping', pattern: /^5 pings, 5 answered$/m },
  { word: 'client.mjs', pattern: /^hello and back$/m },
  { word: 'rping', pattern: /rdma-ping-9: / },
  { word: 'ib_write_bw', pattern: /^ 65536 /m },
  { word: 'ibv_rc_pingpong', pattern: /1000 iters/ },
  { word: 'ucx_perftest', pattern: /Final:/ },
];

/** @param {Place} place @param {string} folder for programs @returns {Generator<Case>} */
export function* guideCases(place, folder) {
  if (place.name !== 'hosts') return;
  const text = readFileSync(join(root, guide), 'utf8');
  const own = writePrograms(text, join(folder, 'guide'));
  const environment = { PATH: [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter) };
  const commands = blocksOf(text, 'sh')
    .flatMap((block) => block.split('\n'))
    .map((line) => line.replace(/ +#.*/, '').trim())
    .filter((line) => line !== '');
  const pairs = commands.filter((line) => !line.startsWith('mpirun'));
  if (pairs.length % 2 !== 0) throw new Problem(`${guide}: the commands of two hosts come in pairs`);
  const command = (/** @type {string} */ line) => words(line).map((word) => own.get(word) ?? word);
  for (let i = 0; i < pairs.length; i += 2) {
    const [server = '', client = ''] = pairs.slice(i, i + 2);
    const pattern = prints.find(({ word }) => client.includes(word))?.pattern;
    if (pattern === undefined) throw new Problem(`${guide}: nothing is known of ${client}`);
    const cannot = client.includes('ucx_perftest') ? whyNoTransport(place.compiler) : undefined;
    yield {
      program: 'the guide',
      name: client,
      // The programs of Node, too, say nothing when they can be reached.
      port: portOf(client),
      server: command(server),
      client: command(client),
      environment,
      bare: true,
      prints: pattern,
      stays: server.startsWith('verbs ping'),
      ...(cannot !== undefined && { cannot }),
    };
  }
  for (const line of commands.filter((each) => each.startsWith('mpirun'))) {
    const { binary, cannot } = compileMpi(place, folder, 'mpicc.openmpi');
    yield {
      program: 'the guide',
      name: line,
      client: words(line).map((word) => (word === 'mpirun' ? 'mpirun.openmpi' : word === './program' ? binary : word)),
      environment: { ...environment, ...launcherOf(place) },
      bare: true,
      prints: /^2 ranks, 0 failures$/m,
      ...(cannot !== undefined && { cannot }),
    };
  }
}

/** What stands in a user's mpirun by itself: ssh, and that the user is not root. @param {Place} place */
function launcherOf({ remoteShell = '' }) {
  return { OMPI_MCA_plm_rsh_agent: remoteShell, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' };
}

/** @param {string} client */
function portOf(client) {
  if (client.includes('rping')) return 7174;
  return client.includes('ucx_perftest') ? 13_337 : 18_515;
}

/**
 * The programs, which name their file in their first line, where they find the packages; their paths by name.
 * @param {string} text
 * @param {string} folder
 */
function writePrograms(text, folder) {
  mkdirSync(join(folder, 'node_modules/@verbs'), { recursive: true });
  symlinkSync(join(root, 'packages/core'), join(folder, 'node_modules/@verbs/core'));
  /** @type {Map<string, string>} */
  const paths = new Map();
  for (const block of blocksOf(text, 'js')) {
    const [, name = ''] = /^\/\/ (\S+\.mjs)/.exec(block) ?? [];
    writeFileSync(join(folder, name), block);
    paths.set(name, join(folder, name));
  }
  return paths;
}

/** @param {string} text @param {string} language */
function blocksOf(text, language) {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(([, block = '']) => block);
}
