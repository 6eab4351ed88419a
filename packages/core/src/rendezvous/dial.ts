import { once } from 'node:events';
import { connect } from 'node:net';
import { fields, or, range } from '../base/fields.js';
import { typeError } from '../base/validate.js';
import { Connection } from './connection.js';
import { Device } from './device.js';
import { isObject, Lines, problem } from './lines.js';
import { CONNECTION_FIELDS, type ConnectionOptions, givenSignal } from './options.js';

/** The options of {@link dial}. */
export interface DialOptions extends ConnectionOptions {
  /** The TCP port of the program that listens. */
  port: number;
  /** Its host, default 127.0.0.1. */
  host?: string;
}

const text = (value: unknown, path: string): string => {
  if (typeof value !== 'string') throw typeError(path, 'text', value);
  return value;
};

/** Characters of the peer's reason in a message. */
const MOST_SPOKEN = 200;

const dialOptions = fields({ ...CONNECTION_FIELDS, port: range(1, 65535), host: or(text, '127.0.0.1') });

/**
 * Connects to a program that waits by {@link listen}: finds it over TCP, and resolves when both queue pairs are in RTS
 * and the receive requests of both are posted.
 *
 * @typeParam PrivateData of the peer, as the program expects it: `(await dial<RemoteRegion>({ port })).privateData`
 * @throws VerbsError REJECTED (the listener did; the error's `privateData` is its), ETIMEDOUT, ECONNRESET, EPROTO (some
 *   other program listens there), and the errors of `node:net`, such as ECONNREFUSED
 * @example
 * await using connection = await dial({ host: '127.0.0.1', port: 18515, receive: {} });
 * await connection.send('hello');
 * console.log((await connection.messages.next())?.text());
 */
export async function dial<PrivateData = unknown>(options: DialOptions): Promise<Connection<PrivateData>> {
  const given = dialOptions(options, 'options');
  const { host, port, privateData, timeout } = given;
  const signal = givenSignal(given);
  signal?.throwIfAborted();
  const device = new Device(given.pd);
  const socket = connect({ host, port });
  let connection: Connection<PrivateData> | undefined;
  const late = AbortSignal.timeout(timeout);
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([late, ...(signal ? [signal] : [])]) });
    const lines = new Lines(socket, 'dial');
    connection = new Connection<PrivateData>(device.pd, lines, given, () => {
      device.close();
    });
    lines.send({ verbs: 1, endpoint: connection.endpoint(given), receive: connection.receiving, privateData });
    const reply = await lines.receive({ timeout, signal });
    if (reply['rejected'] === true) {
      const why = reply['privateData'];
      throw Object.assign(lines.problem('REJECTED', 'the peer rejected the connection', spoken(why)), {
        privateData: why,
      });
    }
    if (!isObject(reply['endpoint'])) throw lines.foreign();
    connection.connect(reply['endpoint'], reply['receive'], given);
    connection.privateData = reply['privateData'] as PrivateData;
    lines.send({ ready: true });
    return connection;
  } catch (error) {
    if (connection === undefined) device.close();
    else connection.close();
    socket.destroy();
    signal?.throwIfAborted();
    if (connection === undefined && late.aborted)
      throw problem({ call: 'dial', host, port }, 'ETIMEDOUT', `no answer for ${timeout} ms`);
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED' && !isLoopback(host)) {
      (error as Error).message +=
        ": no program listens there; a listener without host takes only peers of its own machine (listen({ host: '::' }))";
    }
    throw error;
  }
}

/** What the peer said when it rejected, for people: the whole is `privateData` of the error. It may be any JSON. */
function spoken(why: unknown): string | undefined {
  if (why === undefined || why === null) return undefined;
  const text = outline(isObject(why) && typeof why['error'] === 'string' ? why['error'] : why);
  return `it says ${text.length > MOST_SPOKEN ? `${text.slice(0, MOST_SPOKEN)}…` : text}`;
}

/** Of lists within lists without end there may be no text. */
function outline(why: unknown): string {
  try {
    return JSON.stringify(why);
  } catch {
    return Array.isArray(why) ? '[…]' : '{…}';
  }
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.');
