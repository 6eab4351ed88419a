import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { words } from './case.mjs';
import { whyNoTransport } from './ucx.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

const source = join(import.meta.dirname, '../../c/mpi.c');

const libraries = [
  {
    program: 'Open MPI',
    compiler: 'mpicc.openmpi',
    run: words('mpirun.openmpi --allow-run-as-root --oversubscribe --mca pml ucx --mca osc ucx'),
    /** @param {string} shell @param {string[]} hosts the first one is the launcher's @param {number} ranks of each */
    spread: (shell, hosts, ranks) => [
      ...['--mca', 'plm_rsh_agent', shell],
      ...['--host', hosts.map((host) => `${host}:${ranks}`).join(',')],
    ],
  },
  {
    program: 'MPICH',
    compiler: 'mpicc.mpich',
    run: ['mpirun.mpich'],
    /** @param {string} shell @param {string[]} hosts @param {number} ranks */
    spread: (shell, hosts, ranks) => [
      ...['-launcher', 'ssh', '-launcher-exec', shell, '-localhost', hosts[0] ?? ''],
      ...['-hosts', hosts.map((host) => `${host}:${ranks}`).join(',')],
    ],
  },
];

/**
 * Collectives, windows and ping-pong of an own program that checks every byte. On two hosts each of them has half of the
 * ranks.
 * @param {Place} place
 * @param {string} folder for the programs
 * @returns {Generator<Case>}
 */
export function* mpiCases(place, folder) {
  for (const { program, compiler, run, spread } of libraries) {
    const { binary, cannot } = compileMpi(place, folder, compiler);
    for (const transport of ['rc_verbs,ud_verbs', 'ud_verbs']) {
      for (const ranks of [2, 4]) {
        const shell = place.remoteShell;
        const where = shell === undefined ? [] : spread(shell, [place.client.address, place.server.address], ranks / 2);
        yield {
          program,
          name: `${ranks} ranks over ${transport}`,
          environment: {
            UCX_TLS: `${transport},self`,
            UCX_NET_DEVICES: 'soft0:1',
            UCX_WARN_UNUSED_ENV_VARS: 'n',
            // UCX since 1.15 would flush at the peer, which its rc_verbs can with the devx commands of mlx5 only.
            UCX_FENCE_MODE: 'weak',
            // Ranks of one host would use shared memory.
            MPIR_CVAR_NOLOCAL: '1',
          },
          client: [...run, ...where, '-n', String(ranks), binary],
          prints: new RegExp(`^${ranks} ranks, 0 failures$`, 'm'),
          ...(cannot !== undefined && { cannot }),
        };
      }
    }
  }
}

/**
 * The program, compiled, and why it cannot run.
 * @param {Place} place
 * @param {string} folder
 * @param {string} compiler
 */
export function compileMpi(place, folder, compiler) {
  const binary = join(folder, compiler);
  const command = [...place.compiler, compiler, '-O1', '-o', binary, source];
  const { status, stderr } = spawnSync('env', command, { encoding: 'utf8' });
  return { binary, cannot: status === 0 ? whyNoTransport(place.compiler) : `${compiler}: ${stderr}` };
}
