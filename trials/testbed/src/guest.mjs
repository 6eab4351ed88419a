import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { root } from '../../../tools/setup/src/paths.mjs';
import { Problem } from '../../../tools/setup/src/problem.mjs';
import { commandScript } from './command-script.mjs';
import { runMachine } from './machine.mjs';
import { Output } from './output.mjs';

/**
 * What the agent in the guest is asked: to start a command, or to kill it with all its children.
 * @typedef {{ id: number, command: string[], cwd: string, env: NodeJS.ProcessEnv } | { id: number, kill: true }} Question
 */

/**
 * What the agent says: some output, or how the command ended.
 * @typedef {{ id: number, stream: 'stdout' | 'stderr', text: string }
 *   | { id: number, status: number | null, signal: string | null }} Answer
 */

/**
 * How a command ended, and all that it wrote.
 * @typedef {object} Ended
 * @property {number | null} status null when a signal ended it
 * @property {string | null} signal
 * @property {string} stdout
 * @property {string} stderr
 */

/**
 * A command that runs.
 * @typedef {object} Running
 * @property {Promise<Ended>} ended
 * @property {() => Promise<void>} heard resolves at its first output
 * @property {(text: string) => Promise<void>} says resolves when it has written the text to its standard output
 * @property {() => void} kill
 */

/**
 * @typedef {object} StartOptions
 * @property {NodeJS.ProcessEnv} [env] added to the guest's
 * @property {string} [cwd] default: the project's root
 */

const agent = join(import.meta.dirname, '../guest/agent.mjs');

/** A virtual machine that runs commands until it is closed. */
export class Guest {
  /** @type {(text: string) => void} */
  #write;
  #next = 1;
  /** @type {Map<number, (answer: Answer) => void>} */
  #listeners = new Map();
  #finished;

  /**
   * @param {(text: string) => void} write
   * @param {Promise<number>} finished
   */
  constructor(write, finished) {
    this.#write = write;
    this.#finished = finished;
  }

  /** @param {Answer} answer */
  hear(answer) {
    this.#listeners.get(answer.id)?.(answer);
  }

  /** The machine is gone: so are its commands. */
  lose() {
    for (const [id, listener] of this.#listeners) listener({ id, status: null, signal: 'the virtual machine ended' });
  }

  /**
   * Starts a command.
   * @param {string[]} command
   * @param {StartOptions} [options]
   * @returns {Running}
   */
  start(command, { env = {}, cwd = root } = {}) {
    const id = this.#next++;
    const output = new Output();
    /** @type {Promise<Ended>} */
    const ended = new Promise((resolve) => {
      this.#listeners.set(id, (answer) => {
        if ('stream' in answer) {
          output.add(answer.stream, answer.text);
          return;
        }
        this.#listeners.delete(id);
        output.end();
        const { stdout, stderr } = output;
        resolve({ status: answer.status, signal: answer.signal, stdout, stderr });
      });
    });
    this.#ask({ id, command, cwd, env });
    const kill = () => {
      this.#ask({ id, kill: true });
    };
    return { ended, heard: () => output.heard(), says: (text) => output.says(text), kill };
  }

  /**
   * Runs a command to its end, or for so many milliseconds.
   * @param {string[]} command
   * @param {StartOptions & { limit?: number }} [options]
   */
  async run(command, { limit = 120_000, ...options } = {}) {
    const running = this.start(command, options);
    const timer = setTimeout(running.kill, limit);
    try {
      return await running.ended;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Runs a command whose failure is a Problem.
   * @param {string[]} command
   */
  async must(command) {
    const { status, signal, stdout, stderr } = await this.run(command);
    if (status === 0) return stdout;
    throw new Problem(`in the guest, ${command.join(' ')} ended with ${status ?? signal ?? ''}:\n${stdout}${stderr}`);
  }

  /** Ends the machine. */
  async close() {
    this.#write(`${JSON.stringify({ id: 0, command: ['sh', '-c', 'kill -9 $PPID'], cwd: '/', env: {} })}\n`);
    await this.#finished;
  }

  /** @param {Question} question */
  #ask(question) {
    this.#write(`${JSON.stringify(question)}\n`);
  }
}

/**
 * Boots a machine and waits until it takes commands.
 * @param {{ network?: string, tap?: string }} [options]
 * @returns {Promise<Guest>}
 */
export async function startGuest(options = {}) {
  const answers = new PassThrough();
  /** @type {Guest | undefined} */
  let guest;
  /** @type {(text: string) => void} */
  let write = () => undefined;
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  let complaints = '';
  const finished = runMachine({
    ...options,
    command: commandScript([process.execPath, agent], { cwd: root, env, keepInput: true }),
    out: (data) => answers.write(data),
    err: (data) => (complaints += String(data)),
    started: (writeInput) => (write = writeInput),
  });
  const lines = createInterface({ input: answers });
  /** @type {Promise<Guest>} */
  const ready = new Promise((resolve) => {
    lines.on('line', (line) => {
      if (guest === undefined) {
        guest = new Guest((text) => {
          write(text);
        }, finished);
        resolve(guest);
      } else {
        /** @type {Answer} */
        const answer = JSON.parse(line);
        guest.hear(answer);
      }
    });
  });
  const gone = finished.then((status) => {
    guest?.lose();
    throw new Problem(`the guest's agent ended with ${status}: ${complaints}`);
  });
  gone.catch(() => undefined);
  return await Promise.race([ready, gone]);
}
