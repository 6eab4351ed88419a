import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { allowedProcessors } from '../rc/pin.js';
import type { Measurement } from '../run/measurement.js';
import { Skipped } from '../run/skipped.js';
import type { Pair } from './pair.js';

/** Far longer than any measurement: only a program that hangs reaches it. */
const PATIENCE_MS = 30_000;
/** The port that was free may be another's by then. */
const ATTEMPTS = 3;

/** The path of a program that PATH has. */
export function findProgram(name: string): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/**
 * Runs the two ends of a program, each on a processor of its own.
 *
 * @throws Skipped if it is not installed, fails, or prints nothing that can be read
 */
export async function runPair(program: string, pair: Pair, environment: NodeJS.ProcessEnv): Promise<Measurement> {
  const path = findProgram(program);
  if (path === undefined) {
    throw new Skipped(`${program} is not installed: it is in Debian's ${pair.package} (npm run bench -- --install)`);
  }
  for (let attempt = 1; ; attempt++) {
    const { measurement, words, listened } = await runOnce(path, pair, { ...environment, ...pair.environment });
    if (measurement !== undefined) return measurement;
    if (listened || attempt === ATTEMPTS) throw new Skipped(`${program} failed: ${words}`);
  }
}

interface Outcome {
  measurement?: Measurement | undefined;
  /** The last line that the failed end printed. */
  words: string;
  /** The server had its port. */
  listened: boolean;
}

async function runOnce(path: string, pair: Pair, env: NodeJS.ProcessEnv): Promise<Outcome> {
  const port = await freePort();
  const server = new End(path, pair.server(port), env, 0);
  try {
    if (!(await listens(port, server))) return { words: server.words(), listened: false };
    const client = new End(path, pair.client(port), env, 1);
    try {
      const good = (await client.ended) === 0;
      return { measurement: good ? pair.read(client.output) : undefined, words: client.words(), listened: true };
    } finally {
      client.kill();
    }
  } finally {
    server.kill();
    await server.ended;
  }
}

/** One of the two processes. */
class End {
  output = '';
  /** Its exit code; undefined if it was killed or could not be started. */
  readonly ended: Promise<number | undefined>;
  running = true;
  readonly #child: ChildProcess;

  constructor(path: string, args: readonly string[], env: NodeJS.ProcessEnv, processor: number) {
    const cpu = allowedProcessors()[processor];
    const pinned = cpu !== undefined && findProgram('taskset') !== undefined;
    const command = pinned ? ['taskset', '--cpu-list', String(cpu), path, ...args] : [path, ...args];
    this.#child = spawn(command[0] ?? path, command.slice(1), {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
    this.ended = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.output += error.message;
        this.running = false;
        resolve(undefined);
      });
      this.#child.once('close', (status) => {
        this.running = false;
        resolve(status ?? undefined);
      });
    });
  }

  /** The last line that it printed. */
  words(): string {
    const words = this.output.trim().split('\n').at(-1) ?? '';
    return words === '' ? 'it printed nothing' : words;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Whether the program listens, at last. The kernel's table shows it without a connection, which would be its only one. */
async function listens(port: number, end: End): Promise<boolean> {
  const pattern = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, '0')} [0-9A-F]+:0000 0A `);
  for (let waited = 0; end.running && waited < PATIENCE_MS; waited += 5) {
    if (['tcp', 'tcp6'].some((table) => pattern.test(readTable(table)))) return true;
    await delay(5);
  }
  return false;
}

function readTable(name: string): string {
  try {
    return readFileSync(`/proc/net/${name}`, 'utf8');
  } catch {
    return '';
  }
}
