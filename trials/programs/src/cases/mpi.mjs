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
    between: undefined, // its launcher reaches the ranks over the loopback interface
  },
  { program: 'MPICH', compiler: 'mpicc.mpich', run: ['mpirun.mpich'], between: words('env MPIR_CVAR_NOLOCAL=1') },
];

/**
 * Collectives, windows and ping-pong of an own program that checks every byte.
 * @param {Place} place
 * @param {string} folder for the programs
 * @returns {Generator<Case>}
 */
export function* mpiCases(place, folder) {
  for (const { program, compiler, run, between } of libraries) {
    const binary = join(folder, compiler);
    const [first, ...rest] = [...place.compiler, compiler, '-O1', '-o', binary, source];
    const transportless = whyNoTransport(place.compiler);
    const compiled = spawnSync(first, rest, { encoding: 'utf8' });
    for (const transport of ['rc_verbs,ud_verbs', 'ud_verbs']) {
      for (const ranks of [2, 4]) {
        yield {
          program,
          name: `${ranks} ranks over ${transport}`,
          environment: {
            UCX_TLS: `${transport},self`,
            UCX_NET_DEVICES: 'soft0:1',
            UCX_WARN_UNUSED_ENV_VARS: 'n',
            // UCX since 1.15 would flush at the peer, which its rc_verbs can with the devx commands of mlx5 only.
            UCX_FENCE_MODE: 'weak',
            // Ranks of one machine would use shared memory.
            MPIR_CVAR_NOLOCAL: '1',
          },
          client: commandOf(place, run, ranks, binary, between),
          prints: new RegExp(`^${ranks} ranks, 0 failures$`, 'm'),
          ...(compiled.status !== 0 && { cannot: `${compiler}: ${compiled.stderr}` }),
          ...(transportless !== undefined && { cannot: transportless }),
          ...(place.name === 'namespaces' &&
            (between === undefined || ranks > 2) && {
              cannot:
                between === undefined
                  ? "Open MPI's launcher reaches its ranks in its own network namespace only"
                  : 'a device has one process for an address: two namespaces have two ranks',
            }),
        };
      }
    }
  }
}

/**
 * @param {Place} place
 * @param {string[]} run
 * @param {number} ranks
 * @param {string} binary
 * @param {string[] | undefined} between
 */
function commandOf(place, run, ranks, binary, between) {
  if (place.name === 'processes' || between === undefined) return [...run, '-n', String(ranks), binary];
  // The client's end runs the launcher and a rank of its own; the other rank is in the server's namespace.
  const { prefix, configuration } = place.server;
  return [...run, '-n', '1', binary, ':', '-n', '1', ...prefix, ...between, `VERBS_SOFT=${configuration}`, binary];
}
