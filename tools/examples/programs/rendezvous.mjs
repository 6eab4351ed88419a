// @ts-check
// How two programs tell each other their addresses before the first RDMA message: JSON lines over TCP. The NIC chooses
// the queue pair numbers, so a program cannot know its peer's beforehand; Debian's ibv_*_pingpong do the same.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';

/** The port of ibv_rc_pingpong and its relatives. */
export const DEFAULT_PORT = 18515;

/** A TCP connection that carries one JSON value a line. */
export class Channel {
  #socket;
  #lines;

  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    this.#socket = socket.setNoDelay(true);
    // 'close' follows every error.
    socket.on('error', () => undefined);
    this.#lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  }

  /** @param {unknown} message */
  send(message) {
    this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  /** The peer's next message. @returns {Promise<unknown>} */
  async receive() {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the peer has closed its connection');
    return JSON.parse(value);
  }

  /** @param {() => void} callback called when the peer closes the connection or goes away */
  onClose(callback) {
    this.#socket.once('close', callback);
  }

  close() {
    this.#socket.end();
  }
}

/** @param {{ host: string, port: number }} address of a program that waits */
export async function dial({ host, port }) {
  const socket = connect({ host, port });
  await once(socket, 'connect');
  return new Channel(socket);
}

/**
 * @param {{ host: string, port: number }} address to wait at; port 0 is any free one
 * @param {(channel: Channel) => void} onPeer
 * @returns the port, and how to stop
 */
export async function listen({ host, port }, onPeer) {
  const server = createServer((socket) => {
    onPeer(new Channel(socket));
  });
  server.listen({ host, port });
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { port: address.port, close: () => server.close() };
}

/**
 * The channel to the other program: it dials `host`, or waits for a peer where `host` is undefined.
 *
 * @param {string | undefined} host
 * @param {number} port
 * @returns {Promise<Channel>}
 */
export async function rendezvous(host, port) {
  if (host !== undefined) return dial({ host, port });
  /** @type {(channel: Channel) => void} */
  let resolve = () => undefined;
  /** @type {Promise<Channel>} */
  const peer = new Promise((fulfil) => (resolve = fulfil));
  const listener = await listen({ host: '127.0.0.1', port }, resolve);
  console.error(`waiting on 127.0.0.1 port ${listener.port}`);
  const channel = await peer;
  listener.close();
  return channel;
}
