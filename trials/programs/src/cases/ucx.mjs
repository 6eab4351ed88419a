import { spawnSync } from 'node:child_process';
import { newPort, words } from './case.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

const messages = words(
  'tag_lat tag_bw tag_sync_lat stream_lat stream_bw ucp_put_lat ucp_put_bw ucp_get ucp_am_lat ucp_am_bw',
);
const atomics = words('ucp_add ucp_fadd ucp_swap ucp_cswap');
/** Iterations by the size of a message: no case takes long. */
const sizes = [
  { size: 1, iterations: 500 },
  { size: 65_536, iterations: 100 },
  { size: 4_194_304, iterations: 5 },
];

/**
 * Why UCX has no transport over verbs there: Debian unstable builds a release of it without.
 * @param {string[]} prefix
 */
export function whyNoTransport(prefix) {
  const { status } = spawnSync('env', [...prefix, 'sh', '-c', 'ls /usr/lib/*/ucx/libuct_ib.so.0'], { stdio: 'ignore' });
  return status === 0 ? undefined : 'UCX is built without verbs there';
}

/**
 * Built with MPI, as Debian's is since 13, the program takes itself for one of its ranks where its input is no terminal.
 * @param {string[]} command
 */
function atTerminal(...command) {
  return ['script', '--quiet', '--return', '--command', command.join(' '), '/dev/null'];
}

/** @param {Place} place @returns {Generator<Case>} */
export function* ucxCases({ compiler, server: { address } }) {
  const cannot = whyNoTransport(compiler);
  for (const transport of ['rc_verbs,ud_verbs:aux', 'ud_verbs']) {
    const environment = { UCX_TLS: transport, UCX_NET_DEVICES: 'soft0:1', UCX_LOG_LEVEL: 'warn' };
    const runs = [
      ...messages.flatMap((test) => sizes.map((each) => ({ test, ...each }))),
      ...atomics.map((test) => ({ test, size: 8, iterations: 200 })),
    ];
    for (const { test, size, iterations } of runs) {
      const port = newPort();
      const args = words(`-p ${port} -t ${test} -s ${size} -n ${iterations} -w 2`);
      yield {
        program: 'ucx_perftest',
        name: `${transport} ${test} ${size}`,
        port,
        environment,
        server: atTerminal('ucx_perftest', ...args),
        client: atTerminal('ucx_perftest', address, ...args),
        prints: /Final:/,
        ...(cannot !== undefined && { cannot }),
      };
    }
  }
  yield {
    program: 'ucx_info',
    name: '-d: the transports and the connection manager',
    client: ['ucx_info', '-d'],
    alone: true,
    prints:
      /Transport: rc_verbs[^]*Transport: ud_verbs[^]*Connection manager: rdmacm|Connection manager: rdmacm[^]*ud_verbs/,
    ...(cannot !== undefined && { cannot }),
  };
}
