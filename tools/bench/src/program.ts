import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { softModel } from '@verbs/hbl';
import { dropInDirectory } from '@verbs/soft';
import type { Contender } from './comparisons.js';

/** The line of JSON in which a program reports. */
export type Measurement = Record<string, number | string>;

/** @throws Error if the program did not measure that. */
export function figureOf(measurement: Measurement, field: string): number {
  const value = measurement[field];
  if (typeof value !== 'number') throw new Error(`the measurement ${JSON.stringify(measurement)} has no ${field}`);
  return value;
}

const programs = join(import.meta.dirname, '../build/bin');
const scripts = join(import.meta.dirname, '../bin');

// Far longer than any measurement: only a program that hangs reaches it.
const PATIENCE_MS = 120_000;

/**
 * Runs one of the programs on the software NIC.
 *
 * @throws Error with the program's own words if it fails, or if it is not built.
 */
export async function measure(contender: Contender): Promise<Measurement> {
  const directory = dropInDirectory([softModel]);
  try {
    return await run(contender, directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function run({ program, args, configuration }: Contender, directory: string): Promise<Measurement> {
  const script = program.endsWith('.mjs');
  const path = join(script ? scripts : programs, program);
  if (!existsSync(path)) throw new Error(`${path} is not built; run "npm run build"`);
  const child = spawn(script ? process.execPath : path, script ? [path, ...args] : args, {
    env: { ...process.env, LD_LIBRARY_PATH: directory, VERBS_SOFT: configuration ?? 'soft0,link=udp,mtu=4096' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  let words = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words += text));
  const ending = await new Promise<string | undefined>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => {
      if (status === 0) resolve(undefined);
      else resolve(signal ?? `exit code ${String(status)}`);
    });
  });
  if (ending !== undefined) throw new Error(`${program} ${args.join(' ')}: ${words.trim() || ending}`);
  return JSON.parse(output) as Measurement;
}
