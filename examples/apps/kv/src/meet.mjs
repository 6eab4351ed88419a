// How server and client tell each other their queue pairs: one JSON line each, over TCP. The connection stays open while
// the client is there, so that the server knows when its queue pair may go.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';

/** @import { Server, Socket } from 'node:net' */
/** @import { QpEndpoint } from '@verbs/core' */

/**
 * What the server tells a client: its queue pair, and where its table is.
 * @typedef {{ endpoint: QpEndpoint, addr: string, rkey: number, slots: number }} Answer
 */

/** A line is short: who sends more is no client. */
const LONGEST_LINE = 4096;

/** @param {Socket} socket @returns {Promise<unknown>} */
async function nextLine(socket) {
  let length = 0;
  const count = (/** @type {Buffer} */ part) => {
    length += part.length;
    if (length > LONGEST_LINE) socket.destroy(new Error('the line is too long'));
  };
  socket.on('data', count);
  const lines = createInterface({ input: socket });
  try {
    for await (const line of lines) return /** @type {unknown} */ (JSON.parse(line));
  } finally {
    socket.off('data', count);
    lines.close();
  }
  throw new Error('the other side has closed the connection');
}

/**
 * Serves clients until the server is closed.
 * @param {{ host: string, port: number }} where port 0 is any free one
 * @param {(endpoint: unknown) => Answer & { close: () => void }} welcome gets what the client sent; `close` is called when it is gone
 * @param {(text: string) => void} onTrouble
 * @returns {Promise<Server>} which listens
 */
export async function serveClients({ host, port }, welcome, onTrouble) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // 'close' follows
    nextLine(socket)
      .then((request) => {
        const { close, ...answer } = welcome(request);
        socket.once('close', close);
        if (socket.destroyed) close();
        socket.resume();
        socket.write(`${JSON.stringify(answer)}\n`);
      })
      .catch((/** @type {unknown} */ error) => {
        onTrouble(`a client was rejected: ${error instanceof Error ? error.message : String(error)}`);
        socket.destroy();
      });
  });
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}

/**
 * Asks a server.
 * @param {{ host: string, port: number }} where
 * @param {QpEndpoint} endpoint
 * @returns {Promise<{ answer: Answer, socket: Socket }>}
 */
export async function askServer({ host, port }, endpoint) {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    socket.write(`${JSON.stringify(endpoint)}\n`);
    const answer = /** @type {Answer} */ (await nextLine(socket));
    return { answer, socket };
  } catch (error) {
    socket.destroy();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`no server at ${host} port ${port}: ${reason}; start one with "kv serve"`, { cause: error });
  }
}
