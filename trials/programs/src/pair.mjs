// One case: a server and its client, or a program alone.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

/** @import { Case } from './cases/case.mjs' */
/** @import { End, Place } from './places.mjs' */

const timeLimit = 60; // seconds
const rocePort = 4791;
/** From a device that is open to a program that listens. */
const settling = 400;

class Program {
  output = '';

  /**
   * @param {End} end
   * @param {string[]} command
   * @param {Readonly<Record<string, string>>} environment
   * @param {number} limit in seconds
   */
  constructor(end, command, environment, limit) {
    // timeout(1) ends the children of the program as well. It is in the network of the program, for /proc/PID/net.
    const limited = ['timeout', '-k', '5', String(limit), ...withEnvironment(environment, command)];
    const [program = '', ...args] = [...end.prefix, ...limited];
    this.child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
        this.output += text;
      });
    }
    /** @type {Promise<number>} */
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error) => {
        this.output += error.message;
        resolve(127);
      });
      this.child.once('exit', (status, signal) => {
        // The rest of its output; but a child of its own, with the same pipe, may go on, and would hold this process.
        const done = () => {
          this.child.stdout.destroy();
          this.child.stderr.destroy();
          resolve(status ?? (signal === 'SIGTERM' ? 143 : 137));
        };
        this.child.once('close', done);
        setTimeout(done, 1000);
      });
    });
  }

  get isOver() {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  async stop() {
    if (!this.isOver && this.child.pid !== undefined) process.kill(-this.child.pid, 'SIGTERM');
    await this.ended;
  }

  /** The last lines of its output. */
  get end() {
    return this.output.trim().split('\n').slice(-5).join(' / ').slice(-400);
  }
}

/**
 * Variables for the program only: those of the machine are not for ip(8).
 * @param {Readonly<Record<string, string>>} environment
 * @param {string[]} command
 */
function withEnvironment(environment, command) {
  return ['env', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`), ...command];
}

/**
 * Waits until the server says so, has an open device, or listens at the TCP port, in its network namespace.
 * @param {Program} server
 * @param {Case} each
 */
async function isReady(server, { port = 0, ready }) {
  if (ready !== undefined) {
    while (!ready.test(server.output) && !server.isOver) await sleep(20);
    return;
  }
  const hex = (/** @type {number} */ number) => number.toString(16).toUpperCase().padStart(4, '0');
  const listens = new RegExp(`:${hex(port)} [0-9A-F:]+ 0A `);
  const open = new RegExp(`:${hex(rocePort)} `);
  for (let i = 0; i < 400 && !server.isOver; ++i) {
    const of = (/** @type {string} */ file) => tableOf(server.child.pid, file);
    if (listens.test(of('tcp')) || listens.test(of('tcp6'))) return;
    if (port === 0 && (open.test(of('udp')) || open.test(of('udp6')))) break;
    if (new RegExp(`@verbs-cm/[0-9a-f]*${hex(port).toLowerCase()}/[^/]*/[^/]*$`, 'm').test(of('unix'))) return;
    if (i > 100 && open.test(of('udp'))) break;
    await sleep(20);
  }
  await sleep(settling);
}

/**
 * @param {number | undefined} pid
 * @param {string} file
 */
function tableOf(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/net/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Runs a case and returns why it failed, or undefined.
 * @param {Case} each
 * @param {Place} place
 * @param {Readonly<Record<string, string>>} machine
 */
export async function runCase(each, place, machine) {
  if (place.cannot !== undefined) return place.cannot;
  const before = place.datagrams?.() ?? 0;
  const failure = await run(each, place, machine);
  if (failure !== undefined || place.datagrams === undefined || each.alone === true) return failure;
  // Both ends are of one kernel: a library that finds that out could take another way.
  return place.datagrams() - before >= 2 ? undefined : 'it came to its end without the network of the two hosts';
}

/**
 * @param {Case} each
 * @param {Place} place
 * @param {Readonly<Record<string, string>>} machine
 */
async function run(each, place, machine) {
  const environment = { ...(each.bare !== true && { ...machine, ...place.environment }), ...each.environment };
  const start = (/** @type {End} */ end, /** @type {string[]} */ command) =>
    new Program(end, command, environment, each.limit ?? timeLimit);
  const server = each.server && start(place.server, each.server);
  try {
    if (server) await isReady(server, each);
    const client = start(place.client, each.client);
    if (each.endless !== undefined) {
      for (let i = 0; i < 250 && !each.endless.test(client.output) && !client.isOver; ++i) await sleep(20);
      await client.stop();
      return each.endless.test(client.output) ? undefined : `it printed: ${client.end}`;
    }
    const status = await client.ended;
    if (status !== 0) return `client: status ${status}: ${client.end}; server: ${server?.end ?? '-'}`;
    if (each.prints && !each.prints.test(client.output)) return `client printed: ${client.end}`;
    if (!server || each.stays === true) return undefined;
    const ended = await server.ended;
    return ended === 0 ? undefined : `server: status ${ended}: ${server.end}`;
  } finally {
    await server?.stop();
  }
}
