/**
 * Sockets in the form of `node:net` over RC queue pairs: for programs that want a stream of bytes, and need not know verbs; and
 * ports for JavaScript values over them. The entry `@verbs/core/stream`.
 *
 * @packageDocumentation
 */
export type { SocketBuffers } from './announcement.js';
export { type AnyFunctions, type RemoteFunction, CallError, callPort, CallPort } from './call-port.js';
export {
  connect,
  type ConnectSocketOptions,
  type SocketOptions,
  socketOver,
  type SocketOverOptions,
} from './connect.js';
export { messagePort, type MessagePortEvents, type MessagePortOptions, SocketMessagePort } from './message-port.js';
export { createServer, type ListenSocketOptions, SocketServer, type SocketServerEvents } from './server.js';
export { Socket, type SocketConnection, SocketEnd } from './socket.js';
