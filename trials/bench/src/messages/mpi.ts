// Messages over Open MPI, whose UCX has the software NIC's verbs alone: mpi.mjs C-PROGRAM'S-OPTIONS
import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { machineFor } from '@verbs/soft';
import { findProgram } from '../foreign/run-pair.js';
import { allowedProcessors } from '../rc/pin.js';
import { UNAVAILABLE } from './ends.js';

const COMPILER = 'mpicc.openmpi';
const LAUNCHER = 'mpirun.openmpi';
const NATIVE = join(import.meta.dirname, '../../native');
const SOURCES = ['mpi/mpi_messages.c', 'fail.c', 'options.c', 'result.c'].map((name) => join(NATIVE, name));
const FOLDER = join(NATIVE, '../build/mpi');
const BINARY = join(FOLDER, 'mpi_messages');

function leaveOut(why: string): never {
  console.error(why);
  process.exit(UNAVAILABLE);
}

function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Builds the program where that was not done since its sources changed: each round runs it. */
function build(): void {
  if (Math.max(...SOURCES.map(modified)) < modified(BINARY)) return;
  mkdirSync(FOLDER, { recursive: true });
  const { status, stderr } = spawnSync(COMPILER, ['-O2', '-D_GNU_SOURCE', '-o', BINARY, ...SOURCES], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${COMPILER}: ${stderr}`);
}

for (const program of [COMPILER, LAUNCHER, 'taskset']) {
  if (findProgram(program) === undefined) {
    leaveOut(
      `${program} is not installed: Debian's openmpi-bin, libopenmpi-dev, util-linux (npm run bench -- --install)`,
    );
  }
}
build();
const rank = (processor: number) => ['-n', '1', 'taskset', '--cpu-list', String(allowedProcessors()[processor] ?? 0)];
const program = [BINARY, ...process.argv.slice(2)];
const launcher = ['--allow-run-as-root', '--oversubscribe', '--bind-to', 'none', '--mca', 'pml', 'ucx'];
const machine = machineFor();
try {
  const { status, stdout, stderr } = spawnSync(
    LAUNCHER,
    [...launcher, ...rank(0), ...program, ':', ...rank(1), ...program],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        ...machine.environment,
        UCX_TLS: 'rc_verbs,ud_verbs,self',
        UCX_NET_DEVICES: 'soft0:1',
        UCX_IB_GID_INDEX: '0',
        UCX_WARN_UNUSED_ENV_VARS: 'n',
      },
    },
  );
  const line = stdout.split('\n').find((text) => text.startsWith('{'));
  if (status !== 0 || line === undefined) leaveOut(`${LAUNCHER} failed: ${stderr.trim().split('\n').at(-1) ?? ''}`);
  process.stdout.write(`${line}\n`);
} finally {
  machine.remove();
}
