import { fields, maybe, or, range, u8, unchecked, flag } from '../base/fields.js';
import { typeError } from '../base/validate.js';
import { abortSignal } from '../base/wait-options.js';
import { kindOf } from '../lifetime/resource.js';
import type { ProtectionDomain } from '../device/protection-domain.js';
import { dial } from '../rendezvous/dial.js';
import { BUFFER_FIELDS, type SocketBuffers, withBuffers } from './announcement.js';
import { Socket, type SocketConnection, type SocketEnd } from './socket.js';

/** The options of a socket, of either side. */
export interface SocketOptions extends SocketBuffers {
  /** Where its queue pair is made; default one of a device that is opened, by `openDevice()`, and closed with it. */
  pd?: ProtectionDomain;
  /** The local port of the device, default 1. */
  portNum?: number;
  /** Index of this side's GID; default that of `ctx.defaultGid(portNum)`. */
  sgidIndex?: number;
  /** False (the default): this side ends when the peer has ended its own. True: the program ends it. */
  allowHalfOpen?: boolean;
  /** Destroys the socket; ends the listening of a server. */
  signal?: AbortSignal;
  /** How long the peer may take to connect, in milliseconds: default 10000. */
  connectTimeout?: number;
}

/** The options of {@link connect}. */
export interface ConnectSocketOptions extends SocketOptions {
  /** The port of the server. */
  port: number;
  /** Its host, default 127.0.0.1. */
  host?: string;
}

export const SOCKET_FIELDS = {
  ...BUFFER_FIELDS,
  pd: maybe((value: unknown, path: string) => {
    if (kindOf(value) !== 'ProtectionDomain') throw typeError(path, 'a ProtectionDomain', value);
    return value as ProtectionDomain;
  }),
  portNum: maybe(u8(1)),
  sgidIndex: maybe(u8()),
  allowHalfOpen: flag(),
  signal: maybe(abortSignal),
  connectTimeout: or(range(1, 0x7fffffff), 10_000),
};

const connectOptions = withBuffers(fields({ ...SOCKET_FIELDS, port: range(1, 65_535), host: unchecked }));

/** The options of a connection of the rendezvous that a socket goes over. */
export function connectionOptions(
  { pd, portNum, sgidIndex, connectTimeout: timeout }: SocketOptions,
  { announcement: privateData, cap, prepare }: SocketEnd,
) {
  return {
    ...(pd && { pd }),
    ...(portNum !== undefined && { portNum }),
    ...(sgidIndex !== undefined && { sgidIndex }),
    ...(timeout !== undefined && { timeout }),
    privateData,
    cap,
    prepare,
  };
}

/**
 * Connects to a server of {@link createServer}, as `net.connect`: returns the socket at once. Bytes may be written before the
 * event 'connect'. An error of the connection is the event 'error'.
 *
 * @param listener for 'connect'
 * @throws TypeError, RangeError for an argument, by its name
 * @example
 * import { createReadStream } from 'node:fs';
 * import { pipeline } from 'node:stream/promises';
 * import { connect } from '@verbs/core/stream';
 * const socket = connect({ host: '192.0.2.7', port: 18515 });
 * await pipeline(createReadStream('file'), socket);
 */
export function connect(options: ConnectSocketOptions, listener?: () => void): Socket {
  if (typeof options !== 'object') throw typeError('options', 'an object, as { port, host }', options);
  const { host, port, slots, size, allowHalfOpen, signal, ...rest } = connectOptions(options, 'options');
  // Before there is a socket that connects.
  if (listener !== undefined && typeof (listener as unknown) !== 'function')
    throw typeError('listener', 'a function', listener);
  const socket = new Socket({
    buffers: { slots, size },
    allowHalfOpen,
    signal,
    connect: async (end, aborted) => {
      const to = { port, ...(host === undefined ? {} : { host: host as string }), signal: aborted };
      const connection = await dial({ ...connectionOptions(rest, end), ...to });
      return { connection, peer: connection.privateData };
    },
  });
  if (listener !== undefined) socket.once('connect', listener);
  return socket;
}

/** The options of {@link socketOver}. */
export interface SocketOverOptions extends SocketBuffers {
  /**
   * Connects, over any connection manager: gives its queue pair to `end.prepare` in INIT, with the capacities `end.cap` and
   * completion queues of its own, and `end.announcement` to the peer. `peer` is the announcement of the peer, as text or bytes.
   */
  connect: (
    end: SocketEnd,
    signal: AbortSignal,
  ) => Promise<{
    /** The queue pair, and how it ends. */
    connection: SocketConnection;
    /** The announcement of the peer. */
    peer: unknown;
  }>;
  /** See {@link SocketOptions.allowHalfOpen}. */
  allowHalfOpen?: boolean;
  /** Destroys the socket. */
  signal?: AbortSignal;
}

const overOptions = withBuffers(
  fields({
    ...BUFFER_FIELDS,
    connect: unchecked,
    allowHalfOpen: SOCKET_FIELDS.allowHalfOpen,
    signal: SOCKET_FIELDS.signal,
  }),
);

/**
 * A socket over a connection that the program makes, for instance one of `@verbs/rdmacm`. Both ends are made like this.
 *
 * @throws TypeError, RangeError for an option, by its name
 * @example
 * import { dial } from '@verbs/core/rendezvous';
 * import { socketOver } from '@verbs/core/stream';
 * const socket = socketOver({
 *   connect: async ({ prepare, cap, announcement }) => {
 *     const connection = await dial({ port: 18515, cap, prepare, privateData: announcement });
 *     return { connection, peer: connection.privateData };
 *   },
 * });
 */
export function socketOver(options: SocketOverOptions): Socket {
  const { slots, size, connect: given, ...rest } = overOptions(options, 'options');
  if (typeof given !== 'function') throw typeError('options.connect', 'a function', given);
  return new Socket({ buffers: { slots, size }, connect: given as SocketOverOptions['connect'], ...rest });
}
