import { once } from 'node:events';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import process from 'node:process';
import { buildOnce } from './compile.mjs';

const source = join(import.meta.dirname, '../../native');
let sockets = 0;

/**
 * Builds the library that does harm from inside of a victim, if its sources are newer.
 * @param {NodeJS.ProcessEnv} env
 */
export const buildGremlin = (env) =>
  buildOnce('gremlin.so', source, { options: ['-shared', '-fPIC', '-ldl', '-lpthread'], env });

/** The way to the gremlin of a victim: a socket in the file system, which namespaces of the network do not hide. */
export class Gremlin {
  /** @type {import('node:net').Socket | undefined} */
  #socket;
  /** @type {AsyncIterator<string> | undefined} */
  #lines;
  /** @type {Promise<number>} */
  #last = Promise.resolve(0);

  /** @param {string} directory */
  constructor(directory) {
    this.path = join(directory, `gremlin-${process.pid}-${sockets++}`);
  }

  async connect() {
    this.#socket = createConnection(this.path);
    await once(this.#socket, 'connect');
    // The end of the victim ends it.
    this.#socket.on('error', () => undefined);
    this.#lines = createInterface(this.#socket)[Symbol.asyncIterator]();
    // Once it answers it has accepted the connection, which is one of its descriptors from now on.
    await this.do('heap');
  }

  /**
   * One command after the other. The result, or the number of the error as a negative number.
   * @param {string} name @param {...(number | string)} numbers
   * @returns {Promise<number>}
   */
  do(name, ...numbers) {
    const run = async () => {
      this.#socket?.write(`${[name, ...numbers].join(' ')}\n`);
      const line = await this.#lines?.next();
      const [how, value] = (line?.done === false ? line.value : 'error 104').split(' ');
      return how === 'ok' ? Number(value) : -Number(value);
    };
    return (this.#last = this.#last.then(run));
  }

  close() {
    this.#socket?.destroy();
  }
}
