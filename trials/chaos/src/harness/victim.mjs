/** @import { ChildProcess } from 'node:child_process' */
/** @import { Configuration, Program } from './programs.mjs' */
import { spawn } from 'node:child_process';
import { STEP_MS } from './bounds.mjs';
import { Gremlin } from './gremlin.mjs';

/** Something that must not happen: the run has failed. */
class Failure extends Error {}

/** A process that something happens to. */
export class Victim {
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();
  #number = 0;
  #stderr = '';
  /** @type {{ code: number | null, signal: NodeJS.Signals | null } | undefined} */
  exit;
  /** Set before a signal is sent that the process does not survive. */
  mayDie = false;

  /** @type {Program} */
  #program;

  /** @param {ChildProcess} child @param {Program} program @param {Gremlin} gremlin @param {number[]} ends the numbers of its ends */
  constructor(child, program, gremlin, ends) {
    this.child = child;
    this.#program = program;
    this.gremlin = gremlin;
    this.ends = ends;
    child.stderr?.on('data', (text) => (this.#stderr = (this.#stderr + String(text)).slice(-4000)));
    program.listen(child, (message) => {
      const waiting = this.#waiting.get(message.ready ? 0 : message.id);
      this.#waiting.delete(message.ready ? 0 : message.id);
      if (message.error === undefined) waiting?.resolve(message.result);
      else waiting?.reject(Object.assign(new Error(message.error.message), message.error));
    });
    this.ended = new Promise((resolve) => {
      // Not 'close', which does not come after disconnect().
      child.once('exit', (code, signal) => {
        this.exit = { code, signal };
        this.#waiting.forEach(({ reject }) => {
          reject(this.#death());
        });
        this.#waiting.clear();
        resolve(undefined);
      });
    });
  }

  get pid() {
    return this.child.pid ?? 0;
  }

  /**
   * @param {object} options
   * @param {string[]} options.wrap words in front of the command
   * @param {Program} options.program
   * @param {Configuration} options.configuration
   * @param {number[]} options.ends
   * @param {NodeJS.ProcessEnv} options.env
   * @param {string} options.directory for its socket
   * @param {string} options.library the gremlin
   */
  static async start({ wrap, program, configuration, ends, env, directory, library }) {
    const gremlin = new Gremlin(directory);
    const [command = '', ...args] = [
      ...wrap,
      'env',
      `LD_PRELOAD=${library}`,
      `CHAOS_GREMLIN=${gremlin.path}`,
      ...program.words(configuration),
    ];
    const child = spawn(command, args, { env: { ...env, ...program.env() }, stdio: program.stdio });
    const victim = new Victim(child, program, gremlin, ends);
    await victim.#response(0, 'start', STEP_MS);
    await gremlin.connect();
    return victim;
  }

  /**
   * Runs a command of the process, or of one of its ends.
   * @param {string} command
   * @param {{ end?: number, argument?: unknown, within?: number }} [options] `within` is the bound in milliseconds
   * @returns {Promise<any>}
   */
  ask(command, { end, argument, within = STEP_MS } = {}) {
    if (this.exit !== undefined) return Promise.reject(this.#death());
    const id = ++this.#number;
    const response = this.#response(id, command, within);
    const own = end === undefined ? undefined : this.ends.indexOf(end);
    this.#program.send(this.child, { id, end: own, command, argument });
    return response;
  }

  /** @param {number} id @param {string} what @param {number} within */
  #response(id, what, within) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Failure(`hang: no end of "${what}" of process ${this.pid} within ${within} ms`));
      }, within);
      const over = (/** @type {(value: any) => void} */ settle) => (/** @type {any} */ value) => {
        clearTimeout(timer);
        settle(value);
      };
      this.#waiting.set(id, { resolve: over(resolve), reject: over(reject) });
    });
  }

  #death() {
    const { code, signal } = this.exit ?? {};
    return new Failure(`the process ended by ${signal ?? `exit ${String(code)}`}: ${this.#stderr.trim()}`);
  }

  /** Lets it end by itself. @returns {Promise<void>} */
  async leave() {
    if (this.exit === undefined) {
      this.#program.end(this.child);
      const timer = setTimeout(() => this.child.kill('SIGKILL'), STEP_MS);
      await this.ended;
      clearTimeout(timer);
    }
    const { code, signal } = this.exit ?? {};
    if (signal === 'SIGKILL') throw new Failure(`hang: process ${this.pid} did not end within ${STEP_MS} ms`);
    if (code !== 0) throw this.#death();
  }

  /** @returns {Promise<void>} */
  async destroy() {
    this.gremlin.close();
    if (this.exit === undefined) this.child.kill('SIGKILL');
    await this.ended;
  }
}
