import { once } from 'node:events';
import { type AddressInfo, createServer, isIP, type Server as TcpServer, type Socket } from 'node:net';
import { fields, or, range } from '../base/fields.js';
import { gidBytes, gidText } from '../base/gid.js';
import { portHolder } from '../base/port-holder.js';
import { object, typeError } from '../base/validate.js';
import { Connection } from './connection.js';
import { Device } from './device.js';
import { isObject, Lines } from './lines.js';
import {
  type CheckedOptions,
  CONNECTION_FIELDS,
  connectionOptions,
  type ConnectionOptions,
  givenSignal,
  json,
} from './options.js';

/** The options of {@link listen}. Those of connections are the defaults of {@link Request.accept}. */
export interface ListenOptions extends ConnectionOptions {
  /** The TCP port; default 0: a free one, see {@link Server.port}. */
  port?: number;
  /** The address to listen at; default 127.0.0.1: programs of this machine. `'::'` is everybody. */
  host?: string;
  /** Requests that may wait for the program, default 64. More are rejected. */
  backlog?: number;
}

/** Connections that may be without a request at a time. One more takes the place of the oldest. */
const MOST_SILENT = 256;

const text = (value: unknown, path: string): string => {
  if (typeof value !== 'string') throw typeError(path, 'text', value);
  return value;
};

const listenOptions = fields({
  ...CONNECTION_FIELDS,
  port: or(range(0, 65535), 0),
  host: or(text, '127.0.0.1'),
  backlog: or(range(1, 65535), 64),
});

/**
 * Waits at a TCP port for programs that {@link dial}. Whoever reaches the port may ask for a connection: the program
 * decides on each request, and `privateData` is the place for a password.
 *
 * @typeParam PrivateData of the programs, as this one expects it
 * @throws the errors of `node:net`, such as EADDRINUSE; TypeError, RangeError for an option, by its name
 * @example
 * const server = await listen({ port: 18515, receive: { slots: 64, size: 1024 } });
 * for await (const request of server) {
 *   const connection = await request.accept();
 *   for await (const message of connection.messages) await message.reply(message.data);
 *   connection.close();
 * }
 */
export async function listen<PrivateData = unknown>(options: ListenOptions = {}): Promise<Server<PrivateData>> {
  const given = listenOptions(options, 'options');
  const signal = givenSignal(given);
  signal?.throwIfAborted();
  const device = new Device(given.pd);
  const tcp = createServer();
  try {
    tcp.listen({ host: given.host, port: given.port });
    await once(tcp, 'listening', signal && { signal });
  } catch (error) {
    device.close();
    tcp.close();
    signal?.throwIfAborted();
    throw (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? withHolder(error as Error, given) : error;
  }
  return new Server<PrivateData>(tcp, device, given);
}

/** What the connections of a server have in common: its signal ends the listening alone. */
const defaultsOf = (given: CheckedOptions): CheckedOptions => {
  const names = connectionOptions.names as (keyof CheckedOptions)[];
  return Object.fromEntries(names.map((name) => [name, name === 'signal' ? undefined : given[name]])) as never;
};

/** The error of `node:net` names the address; who holds it is added. */
function withHolder(error: Error, { host, port }: { host: string; port: number }): Error {
  const address = isIP(host) === 4 ? `::ffff:${host}` : isIP(host) === 6 ? gidText(gidBytes(host, 'host')) : '::';
  const holder = portHolder('tcp', port, address);
  if (holder !== undefined)
    error.message += `: ${holder} listens there; end that, or choose another port (0: a free one)`;
  return error;
}

/** Programs that want a connection, one by one. Created by {@link listen}. */
export class Server<PrivateData = unknown> implements AsyncIterable<Request<PrivateData>>, AsyncDisposable {
  /** The TCP port. */
  readonly port: number;
  readonly #tcp: TcpServer;
  readonly #device: Device;
  readonly #defaults: CheckedOptions;
  readonly #backlog: number;
  readonly #requests: Request<PrivateData>[] = [];
  /** Those that have said nothing yet, the oldest first. */
  readonly #silent = new Set<Socket>();
  /** Iterations that wait for a request. */
  readonly #waiting: (() => void)[] = [];
  #closed = false;

  /** @internal */
  constructor(tcp: TcpServer, device: Device, { backlog, ...given }: CheckedOptions & { backlog: number }) {
    this.#tcp = tcp;
    this.#device = device;
    this.#defaults = defaultsOf(given);
    this.#backlog = backlog;
    // A connection that cannot be accepted, for want of descriptors for instance: its program tries again.
    tcp.on('error', () => undefined);
    this.port = (tcp.address() as AddressInfo).port;
    tcp.on('connection', (socket) => {
      void this.#greet(socket);
    });
  }

  /** True after `close()`. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * The requests as they come, but those whose programs gave up meanwhile, until the server is closed. Iterating again goes
   * on with the next one.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Request<PrivateData>, void, undefined> {
    while (!this.#closed) {
      const request = this.#requests.shift();
      if (request === undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      else if (!request.abandoned) yield request;
    }
  }

  /** Ends the listening and rejects the requests that wait. Accepted connections stay. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#tcp.close();
    for (const request of this.#requests.splice(0)) request.reject();
    for (const socket of this.#silent) socket.destroy();
    this.#device.close();
    this.#wake();
  }

  /** `await using` closes the server at the end of its block. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  /**
   * The first message of a program makes it a request. What is none is hung up on. A connection that says nothing keeps
   * nobody out: a program speaks at once, and who has been silent longest goes when there are too many.
   */
  async #greet(socket: Socket): Promise<void> {
    const lines = new Lines(socket, 'accept');
    const [oldest] = this.#silent;
    if (oldest !== undefined && this.#silent.size >= MOST_SILENT) {
      this.#silent.delete(oldest);
      oldest.destroy();
    }
    this.#silent.add(socket);
    try {
      const hello = await lines.receive({ timeout: this.#defaults.timeout, signal: undefined });
      if (hello['verbs'] !== 1 || !isObject(hello['endpoint'])) throw lines.foreign();
      const request = new Request<PrivateData>(lines, hello, this.#device, this.#defaults);
      if (this.#closed || !this.#hasRoom()) request.reject();
      else this.#requests.push(request);
      this.#wake();
    } catch {
      socket.destroy();
    } finally {
      this.#silent.delete(socket);
    }
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Requests of those who gave up make room. */
  #hasRoom(): boolean {
    if (this.#requests.length < this.#backlog) return true;
    const waiting = this.#requests.filter(({ abandoned }) => !abandoned);
    this.#requests.splice(0, Infinity, ...waiting);
    return waiting.length < this.#backlog;
  }
}

/** A program that wants a connection: accept it or reject it. */
export class Request<PrivateData = unknown> {
  /** What the program gave as its `privateData`; undefined for nothing. It comes from the peer: no type proves what it is. */
  readonly privateData: PrivateData;
  /** The address that its TCP connection comes from. */
  readonly remoteAddress: string;
  readonly #lines: Lines;
  readonly #endpoint: unknown;
  readonly #receive: unknown;
  readonly #device: Device;
  readonly #defaults: CheckedOptions;
  #answered = false;

  /** @internal */
  constructor(lines: Lines, hello: Record<string, unknown>, device: Device, defaults: CheckedOptions) {
    this.privateData = hello['privateData'] as PrivateData;
    this.remoteAddress = lines.remoteAddress;
    this.#lines = lines;
    this.#endpoint = hello['endpoint'];
    this.#receive = hello['receive'];
    this.#device = device;
    this.#defaults = defaults;
  }

  /** @internal The program has gone meanwhile. */
  get abandoned(): boolean {
    return this.#lines.over;
  }

  /**
   * Accepts: makes a queue pair, connects it, and resolves when the peer's is connected, too, and its receive requests
   * are posted.
   *
   * @param options beside those of {@link listen}, and in their place
   * @throws VerbsError ETIMEDOUT, ECONNRESET (the peer gave up), EINVAL (answered before, or the server is closed); the errors of
   *   `createQp`
   * @example
   * for await (const request of await listen()) await request.accept({ privateData: mr.remote() });
   */
  async accept(options: ConnectionOptions = {}): Promise<Connection<PrivateData>> {
    const given = connectionOptions(
      { ...this.#defaults, ...object(options, 'options', connectionOptions.names) },
      'options',
    );
    const signal = givenSignal(given);
    this.#checkOpen();
    if (signal?.aborted === true) {
      this.reject();
      throw signal.reason;
    }
    const device = options.pd === undefined ? this.#device : new Device(options.pd);
    if (device === this.#device && !device.use()) {
      this.reject();
      throw this.#lines.problem('EINVAL', 'the server was closed, and its device with it', 'accept with the option pd');
    }
    this.#answered = true;
    let connection: Connection<PrivateData> | undefined;
    try {
      connection = new Connection<PrivateData>(device.pd, this.#lines, given, () => {
        device.close();
      });
      const { privateData } = given;
      const endpoint = connection.endpoint(given);
      connection.connect(this.#endpoint, this.#receive, given);
      connection.privateData = this.privateData;
      this.#lines.send({ endpoint, receive: connection.receiving, privateData });
      const { ready } = await this.#lines.receive({ timeout: given.timeout, signal });
      if (ready !== true) throw this.#lines.foreign();
      return connection;
    } catch (error) {
      if (connection === undefined) {
        device.close();
        this.#lines.close();
      } else {
        connection.close();
      }
      throw error;
    }
  }

  /**
   * Rejects: {@link dial} of the program throws an error with code REJECTED.
   *
   * @param options `privateData`: a JSON value for the program, for instance the reason
   * @throws TypeError for what JSON cannot have; VerbsError EMSGSIZE; EINVAL if it was answered before. It can be answered still after
   *   the first two
   * @example
   * for await (const request of await listen()) {
   *   if (request.privateData !== 'secret') request.reject({ privateData: 'wrong password' });
   * }
   */
  reject(options: { privateData?: unknown } = {}): void {
    this.#checkOpen();
    const privateData = json(object(options, 'options', ['privateData'])['privateData'], 'options.privateData');
    this.#lines.send({ rejected: true, privateData });
    this.#answered = true;
    this.#lines.close();
  }

  #checkOpen(): void {
    if (this.#answered) throw this.#lines.problem('EINVAL', 'the request was accepted or rejected before');
  }
}
