import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { dropInDirectory } from '../../src/index.js';

export interface Outcome {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A foreign program at work. It does not outlive the test. */
export class Program {
  readonly process: ChildProcess;
  readonly ended: Promise<Outcome>;
  stdout = '';
  stderr = '';

  constructor(path: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.process = spawn(path, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve, reject) => {
      this.process.once('error', reject);
      this.process.once('close', (status, signal) => {
        resolve({ status, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
    onTestFinished(async () => {
      this.process.kill('SIGKILL');
      await this.ended;
    });
  }

  /** Waits until standard output matches; fails if the program ends before. */
  async printed(pattern: RegExp): Promise<void> {
    const over = this.ended.then((outcome) => {
      if (!pattern.test(outcome.stdout)) throw new Error(`it ended without ${String(pattern)}: ${describe(outcome)}`);
    });
    while (!pattern.test(this.stdout)) {
      const { stdout } = this.process;
      await Promise.race([over, ...(stdout === null ? [] : [once(stdout, 'data')])]);
    }
  }
}

/** Starts an unchanged program on the software NIC. */
export function startOnSoft(name: string, args: readonly string[], configuration?: string): Program {
  return startIn(dropInDirectory(), name, args, configuration);
}

/** The same with a drop-in directory of the caller's. */
export function startIn(
  directory: string,
  name: string,
  args: readonly string[],
  configuration = 'soft0,link=udp',
): Program {
  const env = { ...process.env, LD_LIBRARY_PATH: directory, VERBS_SOFT: configuration };
  // Into a pipe they would print in blocks only, the last of which is lost with a program that is killed.
  return new Program(find('stdbuf'), ['-oL', find(name), ...args], env);
}

/** Runs an unchanged program on the software NIC until it ends. */
export function runOnSoft(name: string, args: readonly string[], configuration?: string): Promise<Outcome> {
  return startOnSoft(name, args, configuration).ended;
}

/** Runs a program that has nothing to do with the software NIC. */
export function run(name: string, args: readonly string[]): Promise<Outcome> {
  return new Program(find(name), args, process.env).ended;
}

export function describe({ status, signal, stdout, stderr }: Outcome): string {
  return `exit ${String(status ?? signal)}\n${stdout}${stderr}`;
}

/** A TCP port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('not a TCP port');
  return address.port;
}

const packages: [RegExp, string][] = [
  [/^ibv_/, 'ibverbs-utils'],
  [/^ib_/, 'perftest'],
  [/^stdbuf$/, 'coreutils'],
  [/^(rping|ucmatose|udaddy|mckey|cmtime|rdma_)/, 'rdmacm-utils'],
  [/^qperf$/, 'qperf'],
  [/^tshark$/, 'tshark'],
  [/^\/usr\/bin\/python3$/, 'python3-scapy python3-pyverbs'],
];

function find(name: string): string {
  const places = name.startsWith('/') ? [''] : (process.env['PATH'] ?? '').split(delimiter);
  const path = places.map((place) => (place === '' ? name : join(place, name))).find(isExecutable);
  if (path !== undefined) return path;
  const missing = packages.find(([pattern]) => pattern.test(name))?.[1] ?? 'the package it is in';
  throw new Error(`${name} is missing: apt-get install ${missing}`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
