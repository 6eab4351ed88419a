import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { once } from 'node:events';

/** The port of ibv_rc_pingpong and its relatives, which exchange addresses in the same way. */
export const DEFAULT_PORT = 18515;

/** Longer than any valid message: a peer that sends longer lines speaks another protocol. */
const MAX_LINE = 4096;
const MAX_LINES = 64;

/**
 * A TCP connection that carries one JSON value a line. The NIC chooses queue pair numbers, so two programs exchange
 * theirs here before the first datagram. The connection also reports at once that the peer's process is gone.
 */
export class SideChannel {
  /** Aborted when the peer closes the connection or goes away. */
  readonly gone: AbortSignal;
  readonly #socket: Socket;
  readonly #lines: string[] = [];
  readonly #controller = new AbortController();
  #rest = '';
  #wake: (() => void) | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.gone = this.#controller.signal;
    socket.setNoDelay(true).setEncoding('utf8');
    socket.on('data', (text: string) => {
      this.#receive(text);
    });
    socket.on('error', () => {
      // 'close' follows and is handled.
    });
    socket.on('close', () => {
      this.#controller.abort(new Error('the peer has closed its connection'));
      this.#wake?.();
    });
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress ?? 'unknown';
  }

  send(message: unknown): void {
    if (!this.#socket.destroyed) this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  /** The peer's next message. Rejects if the peer closes the connection first. */
  async receive(): Promise<unknown> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) return parse(line);
      this.gone.throwIfAborted();
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** The next message that has already arrived, or undefined. */
  poll(): unknown {
    const line = this.#lines.shift();
    return line === undefined ? undefined : parse(line);
  }

  /** Closes the connection in order: the peer still receives the sent messages. */
  close(): void {
    this.#socket.end();
  }

  /** Closes the connection at once. Messages in flight may be lost. */
  destroy(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    this.#lines.push(...lines);
    if (this.#rest.length > MAX_LINE || this.#lines.length > MAX_LINES) this.#socket.destroy();
    this.#wake?.();
  }
}

export interface DialOptions {
  host: string;
  port: number;
  signal?: AbortSignal;
}

export async function dial({ host, port, signal }: DialOptions): Promise<SideChannel> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', signal && { signal });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return new SideChannel(socket);
}

/** Waits for peers. */
export class Listener {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open({ host, port }: { host: string; port: number }): Promise<Listener> {
    const server = createServer();
    server.listen({ host, port });
    await once(server, 'listening');
    return new Listener(server);
  }

  /** The TCP port, also where port 0 was asked for. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  onPeer(callback: (channel: SideChannel) => void): void {
    this.#server.on('connection', (socket) => {
      callback(new SideChannel(socket));
    });
  }

  /** The next peer. */
  async accept(signal?: AbortSignal): Promise<SideChannel> {
    const [socket] = (await once(this.#server, 'connection', signal && { signal })) as [Socket];
    return new SideChannel(socket);
  }

  close(): void {
    this.#server.close();
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error('the peer speaks another protocol: it sent a line that is no JSON');
  }
}
