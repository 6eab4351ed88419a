import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { softModel as hbl } from '@verbs/hbl';
import { softModel as rdmacm } from '@verbs/rdmacm';
import { dropInDirectory, machineFor } from '@verbs/soft';
import type { Contender } from '../comparison.js';
import { findProgram, runPair } from '../foreign/run-pair.js';
import { UNAVAILABLE } from '../messages/ends.js';
import { allowedProcessors } from '../rc/pin.js';
import type { Measurement } from './measurement.js';
import { Skipped } from './skipped.js';

/** The folder of this package. The bundle and the sources are at different depths of it. */
const HERE = (() => {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = join(folder, '..');
  return folder;
})();
const DEFAULT = 'soft0,link=udp,mtu=4096';

// Far longer than any measurement: only a program that hangs reaches it.
const PATIENCE_MS = 120_000;

/**
 * Runs one of the programs on the software NIC, or another project's.
 *
 * @throws Error with the program's own words if it fails, or if it is not built
 * @throws Skipped if another project's program is missing or fails
 */
export async function measure(contender: Contender): Promise<Measurement> {
  const VERBS_SOFT = contender.configuration ?? DEFAULT;
  if (contender.pair !== undefined) {
    if (contender.pair.verbs !== true) return runPair(contender.program, contender.pair, process.env);
    const machine = machineFor();
    try {
      return await runPair(contender.program, contender.pair, { ...process.env, ...machine.environment, VERBS_SOFT });
    } finally {
      machine.remove();
    }
  }
  const directory = dropInDirectory([hbl, rdmacm]);
  try {
    return await run(contender, { LD_LIBRARY_PATH: directory, VERBS_SOFT });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function run(contender: Contender, variables: Record<string, string>): Promise<Measurement> {
  const { program, args } = contender;
  const [file = '', ...rest] = commandOf(contender);
  const child = spawn(file, rest, {
    env: { ...process.env, ...variables, ...contender.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  let words = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words += text));
  const [status, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (...ending) => {
      resolve(ending);
    });
  });
  if (status === UNAVAILABLE) throw new Skipped(words.trim());
  if (status !== 0) {
    throw new Error(`${program} ${args.join(' ')}: ${words.trim() || (signal ?? `exit code ${String(status)}`)}`);
  }
  return JSON.parse(output) as Measurement;
}

function commandOf({ program, args, checkout, oneProcessor }: Contender): string[] {
  const script = program.endsWith('.mjs');
  const folder = checkout === undefined ? HERE : join(checkout, 'trials/bench');
  const path = join(folder, script ? 'bin' : 'build/bin', program);
  if (!existsSync(path)) throw new Error(`${path} is not built; run "npm run build"`);
  const command = script ? [process.execPath, path, ...args] : [path, ...args];
  if (oneProcessor !== true) return command;
  if (findProgram('taskset') === undefined) throw new Skipped("taskset is not installed: it is in Debian's util-linux");
  return ['taskset', '--cpu-list', String(allowedProcessors()[0] ?? 0), ...command];
}
