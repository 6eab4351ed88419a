import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dropInDirectory } from '@verbs/soft';
import type { Contender } from './comparisons.js';

/** The line of JSON in which a program reports. */
export type Measurement = Record<string, number | string>;

const programs = join(import.meta.dirname, '../build/bin');

// Far more than any measurement takes: only a program that hangs gets there.
const PATIENCE_MS = 120_000;

/**
 * Runs one of the C programs on the software NIC, on UDP alone.
 *
 * @throws Error with the program's own words if it fails, or if it is not built.
 */
export async function measure({ program, args }: Contender): Promise<Measurement> {
  const path = join(programs, program);
  if (!existsSync(path)) throw new Error(`${path} is not built; run "npm run build"`);
  const child = spawn(path, args, {
    env: { ...process.env, LD_LIBRARY_PATH: dropInDirectory(), VERBS_SOFT: 'soft0,link=udp,mtu=4096' },
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
