/**
 * Sockets in the form of `node:net` over RC queue pairs: for programs that want a stream of bytes, and need not know verbs. The
 * entry `@verbs/core/stream`.
 *
 * @packageDocumentation
 */
export type { SocketBuffers } from './announcement.js';
export {
  connect,
  type ConnectSocketOptions,
  type SocketOptions,
  socketOver,
  type SocketOverOptions,
} from './connect.js';
export { createServer, type ListenSocketOptions, SocketServer, type SocketServerEvents } from './server.js';
export { Socket, type SocketConnection, SocketEnd } from './socket.js';
