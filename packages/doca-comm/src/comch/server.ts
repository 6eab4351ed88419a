import type { WaitOptions } from '@verbs/core';
import { validate } from '@verbs/core/provider';
import { representorOf } from '../base/device.js';
import type { Representor } from '../base/device.js';
import { checked, DocaStatus } from '../base/errors.js';
import { type CreatedContext, native } from '../base/native.js';
import type { Connection } from './connection.js';
import { type ComchOptions, ComchServerOrClient, comchOptions, engineFor, nameHint } from './server-or-client.js';
import { TurnQueue } from './turn-queue.js';

/** The options of a {@link Server}. */
export interface ServerOptions extends ComchOptions {
  /** The representor of the host's function that it serves. */
  deviceRep: Representor;
}

const ROLE = 'a server runs on the DPU, and a program on the host connects to it by Client';

/** What is wrong where a server cannot be created. */
function hintOf(created: unknown, options: ServerOptions): string | undefined {
  if (created === -DocaStatus.NOT_SUPPORTED) return ROLE;
  const other = created === -DocaStatus.NOT_PERMITTED || created === -DocaStatus.INVALID_VALUE;
  return other && options.deviceRep.device !== options.device
    ? `options.deviceRep is of another device than options.device; ${ROLE}`
    : nameHint(created, options);
}

/**
 * `doca_comch_server`, on the DPU. It accepts clients by itself, while something waits for it: `accept()`, a connection's
 * `receive()`, or the polled `progress()`.
 *
 * @example
 * const device = openDevice('03:00.0');
 * const deviceRep = openRepresentor(device, '3b:00.0');
 * await using server = new Server({ device, deviceRep, name: 'echo' });
 * for await (const connection of server) {
 *   for await (const message of connection) await connection.send(message);
 * }
 */
export class Server extends ComchServerOrClient implements AsyncIterable<Connection> {
  readonly #accepted: Connection[] = [];
  readonly #accepts = new TurnQueue();

  /** `doca_comch_server_create` and `doca_ctx_start`. @throws DocaError NOT_SUPPORTED on a host, and others */
  constructor(options: ServerOptions) {
    const given = comchOptions(options, 'server', ['deviceRep']);
    const { deviceRep } = options;
    if ((deviceRep as unknown) === undefined) {
      throw validate.typeError('options.deviceRep', `given: one of openRepresentor(device); ${ROLE}`, undefined);
    }
    const { handle } = representorOf(deviceRep, 'options.deviceRep');
    const engine = engineFor(given.device);
    const created = native.createServer(engine.handle, given.device.handle, handle, given.name);
    if (typeof created === 'number') engine.close();
    const syscall = `${given.device.library.comch?.prefix ?? ''}server_create`;
    super(engine, checked<CreatedContext>(created, syscall, hintOf(created, options)), given);
  }

  /** The next new connection. @throws DocaError NOT_CONNECTED when the server is closed; `signal.reason` */
  accept(options?: WaitOptions): Promise<Connection> {
    return this.awaitInTurn(() => this.#accepted.shift(), this.#accepts, options);
  }

  /** New connections, until the server is closed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Connection, void, undefined> {
    while (!this.closed) {
      const connection = await this.accept().catch((error: unknown) => {
        if (this.closed) return undefined;
        throw error;
      });
      if (connection === undefined) return;
      yield connection;
    }
  }

  /** @internal */
  override async disconnect(connection: Connection): Promise<void> {
    const { handle } = this.created;
    const syscall = this.syscall('disconnect');
    await this.await(() => {
      const status = native.comchDisconnect(handle, connection.number);
      if (status === -DocaStatus.AGAIN) return undefined;
      if (status !== -DocaStatus.NOT_CONNECTED) checked(status, syscall);
      return true;
    }, undefined);
    this.forget(connection);
    // Whoever waits for something of it waits in vain.
    this.retry();
  }

  protected override connected(connection: Connection): void {
    this.#accepted.push(connection);
  }
  protected override syscall(name: string): string {
    return `${this.prefix}server_${name}`;
  }
}
