import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface NativeCalls {
  /** The process died by a signal or with an error: with the last calls that it made. */
  failure?: string;
  seed: number;
  calls: number;
  returned: number;
  thrown: number;
  neverReturned: string[];
  strange: string[];
}

export interface NativeCallsOptions {
  /** The `.node` file. */
  addon: URL;
  /** A module whose default function uses the package: see `native-calls.mjs --help`. */
  tour: URL;
  seed: number;
  calls: number;
  env?: Record<string, string>;
}

/** More than a process of these tests needs; a length that is taken from JavaScript unchecked needs more. */
const DATA_BYTES = 6 * 2 ** 30;

/**
 * Calls every function of an addon with arguments that no caller should have, in a process of its own: wrong types,
 * handles of other or closed objects, buffers without memory, getters that close what the call uses.
 */
export async function callNatively({ addon, tour, seed, calls, env }: NativeCallsOptions): Promise<NativeCalls> {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-native-calls-'));
  const log = join(folder, 'calls');
  const program = fileURLToPath(new URL('../programs/native-calls.mjs', import.meta.url));
  const [file, module] = [fileURLToPath(addon), fileURLToPath(tour)];
  const node = [process.execPath, '--expose-gc', '--no-warnings', program, '--addon', file, '--tour', module];
  const args = [`--data=${DATA_BYTES}`, '--', ...node, '--seed', String(seed), '--calls', String(calls), '--log', log];
  try {
    const child = spawn('prlimit', args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const ended = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => {
        resolve({ code, signal });
      });
    });
    if (ended.code === 0) return JSON.parse(stdout) as NativeCalls;
    const last = readFileSync(log, 'utf8').trim().split('\n').slice(-12).join('\n');
    const end = ended.signal ?? `status ${String(ended.code)}`;
    const failure = `seed ${seed} ended with ${end} after the calls\n${last}\n${stdout}${stderr.slice(-4000)}`;
    return { failure, seed, calls: 0, returned: 0, thrown: 0, neverReturned: [], strange: [] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
