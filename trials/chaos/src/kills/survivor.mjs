// What a program does with a connection whose other end is killed, and how long its events take.
import { AccessFlags, WrOpcode } from '@verbs/core';
import { SETUP_MS, STANDING_MS } from './steps.mjs';

/** @import { Connection, ConnectionRequest } from '@verbs/rdmacm' */
/** @import { Random } from '../random.mjs' */

/** @typedef {'accept' | 'late' | 'reject' | 'late reject'} Answer */

/** What one kill came to. */
export class Survivor {
  /** @type {string[]} */
  outcomes = [];
  /** @type {string[]} */
  problems = [];
  /** Of the events: how long the slowest took, from the kill on. */
  slowest = { setup: 0, standing: 0 };
  #dead = false;

  /** @param {Random} random @param {Promise<number>} killed @param {number} slack milliseconds beyond what is documented */
  constructor(random, killed, slack) {
    this.random = random;
    this.killed = killed;
    this.slack = slack;
    void killed.then(() => (this.#dead = true));
  }

  /** In one of the ways, some of which are after the kill. @param {ConnectionRequest} request @param {Answer[]} ways */
  async answer(request, ways) {
    const how = this.random.pick(ways);
    if (how.startsWith('late')) await this.killed;
    if (how.endsWith('reject')) {
      this.#reject(request);
      return;
    }
    const connection = await this.#event('accept', SETUP_MS, request.accept());
    if (connection) await this.outlive(connection);
  }

  /** @param {Promise<Connection>} connecting */
  async connect(connecting) {
    const connection = await this.#event('connect', SETUP_MS, connecting);
    if (connection) await this.outlive(connection);
  }

  /** Connections one after the other, which the peer ends, until it is killed. @param {() => Promise<Connection>} connect */
  async connectAgain(connect) {
    while (!this.#dead) {
      const connection = await this.#event('connect', SETUP_MS, connect());
      if (!connection) return;
      await this.#event('disconnected', STANDING_MS, connection.whenDisconnected());
      connection.close();
    }
  }

  /** @param {Connection} connection */
  async outlive(connection) {
    const mr = connection.pd.allocMr(64, AccessFlags.LOCAL_WRITE);
    const received = connection.qp.recv({ sgList: [{ mr }] });
    received.catch(() => undefined);
    const how = this.random.pick(['wait', 'wait', 'send', 'disconnect']);
    await this.killed;
    if (how === 'disconnect') await this.#event('disconnect', STANDING_MS, connection.disconnect());
    if (how === 'send' && connection.connected) {
      const sent = connection.qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr }] });
      await this.#event('send', STANDING_MS, sent, ['WC_RETRY_EXC_ERR', 'WC_WR_FLUSH_ERR']);
    }
    await this.#event('disconnected', STANDING_MS, connection.whenDisconnected());
    await this.#event('receive', STANDING_MS, received, ['WC_WR_FLUSH_ERR']);
    connection.close();
  }

  /** @param {ConnectionRequest} request */
  #reject(request) {
    try {
      request.reject();
      this.outcomes.push('reject');
    } catch (error) {
      // The peer was there again, and has withdrawn it.
      request.close();
      this.#failed('reject', error, ['EINVAL']);
    }
  }

  /**
   * Waits for it as long as it may take after the kill.
   * @template T @param {string} name @param {number} bound @param {Promise<T>} promise @param {string[]} [codes]
   * @returns {Promise<T | undefined>}
   */
  async #event(name, bound, promise, codes = ['UNREACHABLE', 'REJECTED']) {
    const begun = performance.now();
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = this.killed.then(
      (killed) =>
        new Promise((_, reject) => {
          const wait = Math.max(killed, begun) + bound + this.slack - performance.now();
          timer = setTimeout(() => {
            reject(new Error(`nothing within ${bound} ms`));
          }, wait);
        }),
    );
    late.catch(() => undefined);
    /** @type {T | undefined} */
    let result;
    try {
      result = /** @type {T} */ (await Promise.race([promise, late]));
      this.outcomes.push(name);
    } catch (error) {
      this.#failed(name, error, codes);
    }
    const ended = performance.now();
    void this.killed.then((killed) => {
      clearTimeout(timer);
      const kind = bound === SETUP_MS ? 'setup' : 'standing';
      this.slowest[kind] = Math.max(this.slowest[kind], ended - Math.max(killed, begun));
    });
    return result;
  }

  /** @param {string} name @param {unknown} error @param {string[]} codes */
  #failed(name, error, codes) {
    const { code, message } = /** @type {Error & { code?: string }} */ (error);
    this.outcomes.push(`${name}: ${code ?? message}`);
    if (!codes.includes(String(code))) this.problems.push(`${name}: ${message}`);
  }
}
