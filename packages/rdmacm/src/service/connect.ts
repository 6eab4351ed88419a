import type { QpType } from '@verbs/core';
import { closedError, fields, unchecked, unlessAborted, validate } from '@verbs/core/provider';
import { PortSpace } from '../base/enums.js';
import { type ConnParam, paramFields } from '../cm/conn-param.js';
import { type ConnectedQueuePair, Connection } from './connection.js';
import { closeAll, makeQueuePair, type QpSource } from './qp-options.js';
import { type ParamOptions, peerFields, type PeerOptions, withRoute } from './resolve.js';

/** The options of {@link connect}. */
export interface ConnectOptions extends PeerOptions, ParamOptions {
  /** How the queue pair is made. */
  qp?: QpSource;
  /**
   * Called before the request goes out: receive requests that are posted here are there before the peer sends. `timeout` and
   * `signal` end the waiting for it, too.
   */
  prepare?: (qp: ConnectedQueuePair) => void | Promise<void>;
}

const connectOptions = fields({ ...peerFields, ...paramFields, qp: unchecked, prepare: unchecked });

/**
 * Connects to a listener: resolves the address and the route, makes a queue pair, and calls `rdma_connect`. It resolves
 * when the queue pair is in RTS.
 *
 * @throws ConnectionError REJECTED, UNREACHABLE, ADDR_ERROR, ROUTE_ERROR, TIMEDOUT; the signal's reason; VerbsError EINVAL
 *   (too much private data, or the queue pair's attributes), ENOSYS (no library); the errors of Node's `dns.lookup`
 * @example
 * await using connection = await connect({ host: '192.0.2.1', port: 7471, privateData: 'hello', timeout: 5000 });
 * const region = connection.pd.allocMr(4096, AccessFlags.LOCAL_WRITE);
 * await connection.qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr: region, length: 5 }] });
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const given = connectOptions(options, 'options');
  const { prepare, qp: source } = given;
  if (prepare !== undefined && typeof prepare !== 'function') {
    throw validate.typeError('options.prepare', 'a function', prepare);
  }
  return await withRoute(given, PortSpace.TCP, async ({ inbox, about }) => {
    const made = makeQueuePair<typeof QpType.RC>(inbox.id, source as QpSource | undefined, 'options.qp');
    try {
      await unlessAborted((prepare as ConnectOptions['prepare'])?.(made.qp), about.signal);
      if (made.qp.closed) throw closedError('QueuePair that options.prepare was given', about.syscall);
      inbox.id.connect(paramOf(given, made.qp));
      const { conn } = await inbox.expect('ESTABLISHED', about);
      return new Connection(inbox, made, conn);
    } catch (error) {
      inbox.id.close();
      closeAll(made.own);
      throw error;
    }
  });
}

/** The parameters of a request, from the checked options. */
function paramOf(given: Record<string, unknown>, qp: ConnectedQueuePair): ConnParam {
  const names = Object.keys(paramFields);
  const param = Object.fromEntries(names.filter((name) => name in given).map((name) => [name, given[name]]));
  return { ...param, srq: qp.srq !== undefined, qpNum: qp.qpNum };
}
