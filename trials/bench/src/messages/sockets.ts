import { connect, createServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectVerbs, createServer as createVerbsServer } from '@verbs/core/stream';
import { connectSocket, socketPath } from './framed-socket.js';

/** Connects to the process that was started, or that is at the address of {@link listenBy}: by unix, tcp or verbs. */
export function openBy(way: string, address: string): Duplex {
  if (way === 'verbs') return connectVerbs({ port: Number(address) });
  const socket = way === 'tcp' ? connect(Number(address), '127.0.0.1') : connectSocket(process.pid);
  return socket.setNoDelay();
}

/** Listens for the process that started this one. */
export function listenBy(way: string) {
  if (way === 'verbs') return createVerbsServer().listen();
  const server = createServer((socket) => socket.setNoDelay());
  return way === 'tcp' ? server.listen(0, '127.0.0.1') : server.listen(socketPath(process.ppid));
}

/** What the other process needs of a server that listens: its port, or nothing. */
export function addressOf(server: ReturnType<typeof listenBy>): string {
  const address = server.address();
  return typeof address === 'object' && address !== null ? String(address.port) : '';
}
