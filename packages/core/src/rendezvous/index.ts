/**
 * Connections between two programs: they find each other over TCP, exchange their ends, and both get a connected queue
 * pair. The entry `@verbs/core/rendezvous`.
 *
 * @packageDocumentation
 */
export { Connection, type SendOptions } from './connection.js';
export { dial, type DialOptions } from './dial.js';
export { listen, type ListenOptions, Request, Server } from './listen.js';
export type { ConnectionOptions } from './options.js';
