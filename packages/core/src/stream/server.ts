import { EventEmitter } from 'node:events';
import type { AddressInfo } from 'node:net';
import { onAbort } from '../base/abort.js';
import { fields, or, range } from '../base/fields.js';
import { typeError } from '../base/validate.js';
import { listen, type Request, type Server as Listener } from '../rendezvous/listen.js';
import { announced, withBuffers } from './announcement.js';
import { connectionOptions, SOCKET_FIELDS, type SocketOptions } from './connect.js';
import { Socket } from './socket.js';

/** The options of {@link SocketServer.listen}. */
export interface ListenSocketOptions {
  /** The port; default 0: a free one, see {@link SocketServer.address}. */
  port?: number;
  /** The address to listen at; default 127.0.0.1: programs of this machine. `'::'` is everybody. */
  host?: string;
  /** Peers that may wait for their acceptance, default 64. */
  backlog?: number;
}

/** The events of a {@link SocketServer}. */
export interface SocketServerEvents {
  /** It listens. */
  listening: [];
  /** A peer has connected. */
  connection: [socket: Socket];
  /** The port cannot be listened at. */
  error: [error: Error];
  /** It was closed, and its last socket too. */
  close: [];
}

const text = (value: unknown, path: string): string => {
  if (typeof value !== 'string') throw typeError(path, 'text', value);
  return value;
};

const serverOptions = withBuffers(fields(SOCKET_FIELDS));
const listenOptions = fields({
  port: or(range(0, 65_535), 0),
  host: or(text, '127.0.0.1'),
  backlog: or(range(1, 65_535), 64),
});

/**
 * A server for sockets, in the form of `net.Server`. Made by {@link createServer}.
 *
 * @example
 * import { createServer } from '@verbs/core/stream';
 * const server = createServer((socket) => socket.pipe(socket));
 * server.listen({ port: 18515 });
 */
export class SocketServer extends EventEmitter<SocketServerEvents> implements AsyncDisposable {
  readonly #options: SocketOptions & { slots: number; size: number };
  readonly #sockets = new Set<Socket>();
  #listener: Listener | undefined;
  #state: 'new' | 'starting' | 'listening' | 'closing' | 'closed' = 'new';
  #host = '';
  /** Takes back what the signal does. */
  #ignore: (() => void) | undefined;

  /** @internal */
  constructor(options: SocketOptions) {
    super();
    this.#options = serverOptions(options, 'options');
  }

  /** Whether it listens. */
  get listening(): boolean {
    return this.#state === 'listening';
  }

  /** The port that it listens at; 0 before 'listening' and after `close()`. */
  get port(): number {
    return this.address()?.port ?? 0;
  }

  /** The number of its open sockets. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Where it listens; null before 'listening' and after `close()`. */
  address(): AddressInfo | null {
    if (this.#listener === undefined || !this.listening) return null;
    const address = this.#host;
    return { address, family: address.includes(':') ? 'IPv6' : 'IPv4', port: this.#listener.port };
  }

  /**
   * Begins to listen. 'listening' follows, or 'error'.
   *
   * @throws TypeError, RangeError for an option, by its name; Error ERR_SERVER_ALREADY_LISTEN, as `net.Server`
   */
  listen(options: ListenSocketOptions | number = {}, listener?: () => void): this {
    const { port, host, backlog } = listenOptions(typeof options === 'number' ? { port: options } : options, 'options');
    if (listener !== undefined && typeof (listener as unknown) !== 'function') {
      throw typeError('listener', 'a function (a host stands in the options: listen({ port, host }))', listener);
    }
    if (this.#state !== 'new' && this.#state !== 'closed') {
      throw Object.assign(new Error('the server listens already, or has been told to: close() it first'), {
        code: 'ERR_SERVER_ALREADY_LISTEN',
      });
    }
    if (listener !== undefined) this.once('listening', listener);
    this.#state = 'starting';
    this.#host = host;
    const { pd, signal } = this.#options;
    const close = () => {
      this.close();
    };
    if (signal?.aborted === true) close();
    else if (signal !== undefined) this.#ignore = onAbort(signal, close);
    // Behind a tick, an exception of a listener is an uncaught one.
    listen({ port, host, backlog, ...(pd && { pd }), ...(signal && { signal }) }).then(
      (server) => {
        process.nextTick(() => {
          this.#started(server);
        });
      },
      (error: unknown) => {
        process.nextTick(() => {
          this.#notStarted(error as Error);
        });
      },
    );
    return this;
  }

  #started(server: Listener): void {
    this.#listener = server;
    if (this.#state === 'closing') {
      server.close();
      this.#closeIfLast();
      return;
    }
    this.#state = 'listening';
    void this.#accept(server);
    this.emit('listening');
  }

  #notStarted(error: Error): void {
    if (this.#state === 'closing') {
      // Nobody wants it to listen any more.
      this.#closeIfLast();
      return;
    }
    this.#ignore?.();
    this.#state = 'closed';
    this.emit('error', error);
  }

  /**
   * Ends the listening. The sockets stay; 'close' comes with the end of the last one.
   *
   * @param listener for 'close'; as of `net.Server`, it gets an error ERR_SERVER_NOT_RUNNING if the server was not listening
   */
  close(listener?: (error?: Error) => void): this {
    if (listener !== undefined && typeof (listener as unknown) !== 'function')
      throw typeError('listener', 'a function', listener);
    if (this.#state === 'closed') {
      if (listener !== undefined) process.nextTick(listener, notRunning());
      return this;
    }
    if (listener !== undefined) {
      const withError = () => {
        listener(notRunning());
      };
      const open = this.#state === 'starting' || this.#state === 'listening';
      this.once('close', open ? listener : withError);
    }
    if (this.#state === 'closing') return this;
    const starting = this.#state === 'starting';
    this.#state = 'closing';
    this.#ignore?.();
    this.#listener?.close();
    if (!starting)
      process.nextTick(() => {
        this.#closeIfLast();
      });
    return this;
  }

  /** Calls back with the number of open sockets, as `net.Server`. */
  getConnections(callback: (error: Error | null, count: number) => void): this {
    process.nextTick(callback, null, this.#sockets.size);
    return this;
  }

  /** `await using` closes the server and its sockets at the end of its block. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === 'closed') return;
    const closed = new Promise<void>((resolve) => this.once('close', resolve));
    this.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #accept(server: Listener): Promise<void> {
    for await (const request of server) this.#open(request);
  }

  #open(request: Request): void {
    const { slots, size, allowHalfOpen } = this.#options;
    try {
      announced(request.privateData);
    } catch {
      request.reject({
        privateData:
          'here is a socket server of @verbs/core/stream: connect() of that module reaches it, dial() does not',
      });
      return;
    }
    const socket = new Socket({
      buffers: { slots, size },
      allowHalfOpen,
      connect: async (end, signal) => {
        // The listener has the protection domain.
        const options = { ...this.#options };
        delete options.pd;
        const connection = await request.accept({ ...connectionOptions(options, end), signal });
        return { connection, peer: request.privateData };
      },
    });
    this.#sockets.add(socket);
    // A peer that gives up before it is connected is none of the program's.
    const ignored = () => undefined;
    socket.on('error', ignored);
    socket.once('connect', () => {
      socket.off('error', ignored);
      this.emit('connection', socket);
    });
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#closeIfLast();
    });
  }

  #closeIfLast(): void {
    if (this.#state !== 'closing' || this.#sockets.size !== 0) return;
    this.#state = 'closed';
    this.emit('close');
  }
}

const notRunning = () => Object.assign(new Error('the server is not listening'), { code: 'ERR_SERVER_NOT_RUNNING' });

/**
 * A server for {@link connect}, as `net.createServer`.
 *
 * @param listener for 'connection'
 * @throws TypeError, RangeError for an option, by its name
 * @example
 * import { createServer } from '@verbs/core/stream';
 * const server = createServer((socket) => socket.pipe(socket)).listen({ port: 18515 });
 * @example
 * import http from 'node:http';
 * import { createServer } from '@verbs/core/stream';
 * const web = http.createServer((request, response) => response.end('over RDMA'));
 * createServer((socket) => web.emit('connection', socket)).listen({ port: 8080 });
 */
export function createServer(listener?: (socket: Socket) => void): SocketServer;
/** The same with options for the sockets. */
export function createServer(options: SocketOptions, listener?: (socket: Socket) => void): SocketServer;
export function createServer(
  first: SocketOptions | ((socket: Socket) => void) = {},
  second?: (socket: Socket) => void,
): SocketServer {
  const [options, listener] = typeof first === 'function' ? [{}, first] : [first, second];
  const server = new SocketServer(options);
  if (listener !== undefined) server.on('connection', listener);
  return server;
}
