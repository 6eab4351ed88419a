import type { WaitOptions } from '@verbs/core';
import { checked, DocaError, DocaStatus } from '../base/errors.js';
import { type CreatedContext, native } from '../base/native.js';
import type { Connection } from './connection.js';
import { isIdle } from './events.js';
import { type ComchOptions, ComchServerOrClient, comchOptions, engineFor, nameHint } from './server-or-client.js';

const SYSCALL = 'doca_ctx_start';

/**
 * `doca_comch_client`, on the host: one connection to a server. When the server is gone, so is the client; a new one connects
 * again.
 *
 * @example
 * const device = openDevice('3b:00.0');
 * await using client = new Client({ device, name: 'echo' });
 * const connection = await client.connect();
 * await connection.send(Buffer.from('hello'));
 * console.log(await connection.receive());
 */
export class Client extends ComchServerOrClient {
  #connection: Connection | undefined;

  /** `doca_comch_client_create` and `doca_ctx_start`. @throws DocaError NOT_SUPPORTED on a DPU, and others */
  constructor(options: ComchOptions) {
    const given = comchOptions(options, 'client');
    const engine = engineFor(given.device);
    const created = native.createClient(engine.handle, given.device.handle, given.name);
    if (typeof created === 'number') engine.close();
    const syscall = `${given.device.library.comch?.prefix ?? ''}client_create`;
    const hint =
      created === -DocaStatus.NOT_SUPPORTED
        ? 'a client runs on the host; on the DPU, a Server accepts it'
        : nameHint(created, given);
    super(engine, checked<CreatedContext>(created, syscall, hint), given);
  }

  /** The connection, if it is established. */
  get connection(): Connection | undefined {
    return this.#connection;
  }

  /**
   * Resolves when the server has accepted.
   *
   * @throws DocaError CONNECTION_ABORTED if it has not, CONNECTION_RESET if the connection has ended and all its messages are
   *   received, NOT_CONNECTED when the client is closed; `signal.reason`
   */
  connect(options?: WaitOptions): Promise<Connection> {
    return this.await(() => {
      if (this.closed) throw new DocaError(DocaStatus.NOT_CONNECTED, SYSCALL, 'the client was closed');
      this.drain();
      const connection = this.#connection;
      if (connection !== undefined) {
        if (connection.connected || connection.backlog > 0) return connection;
        throw new DocaError(
          DocaStatus.CONNECTION_RESET,
          SYSCALL,
          'the connection has ended; a new client connects again',
        );
      }
      if (!isIdle(this.created.handle)) return undefined;
      const hint = `no service named ${this.name} accepts clients on the DPU for this function; start it first`;
      throw new DocaError(DocaStatus.CONNECTION_ABORTED, SYSCALL, hint);
    }, options);
  }

  /** @internal */
  override async disconnect(): Promise<void> {
    await this.closeAsync();
  }

  protected override connected(connection: Connection): void {
    this.#connection = connection;
  }
  protected override syscall(name: string): string {
    return `${this.prefix}client_${name}`;
  }
}
