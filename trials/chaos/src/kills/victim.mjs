import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compile } from '../harness/compile.mjs';

const source = join(import.meta.dirname, '../../kills/victim.c');

/** @param {NodeJS.ProcessEnv} env */
export const buildVictim = (env) => compile('victim', [source], { options: ['-lrdmacm', '-libverbs'], env });

/** A process that is killed. */
export class Victim {
  #stderr = '';
  /** @type {(time: number) => void} */
  #tell = () => undefined;
  /** @type {Promise<number>} when it was killed */
  killed = new Promise((resolve) => (this.#tell = resolve));

  /** @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} env */
  constructor(program, args, env) {
    this.child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.ended = once(this.child, 'close');
    this.child.stderr.on('data', (text) => (this.#stderr += String(text)));
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  /** The words behind the first one of the next line, which has to be that. @param {string} first */
  async line(first) {
    const { value } = await this.lines.next();
    const [word, ...rest] = String(value ?? '').split(' ');
    if (word === first) return rest;
    throw new Error(`the victim said ${String(value)} instead of ${first}`);
  }

  /** An error if it has ended before by itself. */
  async kill() {
    this.child.kill('SIGKILL');
    this.#tell(performance.now());
    await this.ended;
    if (this.child.signalCode !== 'SIGKILL') throw new Error(`the victim ended by itself: ${this.#stderr.trim()}`);
  }
}
