import { isIP } from 'node:net';
import { inspect, type InspectOptions } from 'node:util';
import type { LibraryKind, WaitOptions } from '@verbs/core';
import {
  closedError,
  fields,
  flag,
  maybe,
  or,
  u16,
  u31,
  u8,
  signalOf,
  unchecked,
  validate,
} from '@verbs/core/provider';
import { IdOption, OptionLevel, PortSpace } from '../base/enums.js';
import { kindOf } from '../base/libraries.js';
import { addressesOf } from '../cm/addresses.js';
import type { CmEvent } from '../cm/cm-event.js';
import type { CmId } from '../cm/cm-id.js';
import { hostAddress } from '../cm/host-address.js';
import type { FullSocketAddress } from '../cm/socket-address.js';
import { Inbox } from './inbox.js';
import { ConnectionRequest, LookupRequest, type Request } from './request.js';
import { sharedChannel } from './shared-channel.js';

/** The options of {@link listen}. */
export interface ListenOptions {
  /** 0 to 65535, of the connection manager's own ports; default 0: any free one, see {@link Server.address}. */
  port?: number;
  /** This side's IP address; default: all, of IPv4 and IPv6. */
  host?: string;
  /** How many requests may wait for the program, of peers that have not given up; more are rejected. Default 128. */
  backlog?: number;
  /** Whether others may listen at the port, too, at other addresses; default false. */
  reuseAddr?: boolean;
  /** Whether `::` takes IPv6 only; default false. */
  ipv6Only?: boolean;
  /** The traffic class of the connections: 0 to 255, default 0. */
  tos?: number;
  /** Whose librdmacm: 'system' or 'soft'; default: the system's if it has a device, else the software NIC's. */
  library?: LibraryKind;
}

const listenOptions = fields({
  port: or(u16(), 0),
  host: unchecked,
  backlog: or(u31(), 128),
  reuseAddr: flag(),
  ipv6Only: flag(),
  tos: maybe(u8()),
  library: unchecked,
});

/**
 * A listener: an asynchronous iterable of requests, until it is closed. It keeps the process alive while a program waits
 * for a request.
 */
export class Server<R extends Request = ConnectionRequest> implements Disposable {
  /** The identifier, for the calls of the C library. */
  readonly id: CmId;
  readonly #inbox: Inbox;
  readonly #backlog: number;
  #requests: { inbox: Inbox; request: R }[] = [];

  /** @internal */
  constructor(id: CmId, backlog: number, make: (inbox: Inbox, event: CmEvent) => R) {
    this.id = id;
    this.#backlog = backlog;
    this.#inbox = new Inbox(id);
    this.#inbox.deliver(
      (event) => {
        this.#onEvent(event, make);
      },
      () => {
        this.#drop();
      },
    );
  }

  /** The address and port that it listens at. */
  address(): FullSocketAddress {
    const found = this.id.localAddr;
    return found ?? { address: '0.0.0.0', family: 4, port: this.id.srcPort };
  }

  /**
   * The addresses that a peer can connect to: that of {@link Server.address}, or those of all devices.
   *
   * @example console.log(`connect to ${server.addresses()[0]} port ${server.address().port}`);
   */
  addresses(): string[] {
    const { address } = this.address();
    return address === '::' || address === '0.0.0.0' ? addressesOf(this.id.library) : [address];
  }

  /** True after `close()`. */
  get closed(): boolean {
    return this.id.closed;
  }

  /**
   * The next request. One whose peer has given up meanwhile is passed over.
   *
   * @throws VerbsError ERR_VERBS_CLOSED if the server is closed meanwhile; the signal's reason
   * @example const request = await server.request();
   */
  async request(options?: WaitOptions): Promise<R> {
    const signal = signalOf(options);
    for (;;) {
      signal?.throwIfAborted();
      if (this.closed) throw closedError('Server', 'rdma_get_cm_event');
      const first = this.#requests.shift();
      if (first === undefined) await this.#inbox.sleep(signal);
      else if (!first.inbox.over) return first.request;
      else first.request.close();
    }
  }

  /** @example for await (const request of server) await request.accept(); */
  [Symbol.asyncIterator](): AsyncGenerator<R, void, undefined> {
    return this.requests();
  }

  /** The requests as they come, until the server is closed or the signal is aborted. */
  async *requests(options?: WaitOptions): AsyncGenerator<R, void, undefined> {
    const signal = signalOf(options);
    while (!this.closed) {
      try {
        yield await this.request({ ...(signal && { signal }) });
      } catch (error) {
        if (this.#endedBy(signal)) return;
        throw error;
      }
    }
  }

  #endedBy(signal: AbortSignal | undefined): boolean {
    return this.closed && signal?.aborted !== true;
  }

  /** Stops listening. Requests that nobody took are rejected; connections stay. Twice does nothing. */
  close(): void {
    if (!this.id.closed) this.id.close();
  }

  /** As `close()`. */
  [Symbol.dispose](): void {
    this.close();
  }

  #onEvent(event: CmEvent, make: (inbox: Inbox, event: CmEvent) => R): void {
    if (event.name !== 'CONNECT_REQUEST' || event.id === undefined) return;
    const most = Math.max(1, this.#backlog);
    if (this.#requests.length >= most) this.#dropGone();
    if (this.#requests.length >= most) {
      event.id.close();
      return;
    }
    const inbox = new Inbox(event.id);
    this.#requests.push({ inbox, request: make(inbox, event) });
  }

  /** A peer that has given up takes no place. */
  #dropGone(): void {
    const gone = this.#requests.filter(({ inbox }) => inbox.over);
    this.#requests = this.#requests.filter(({ inbox }) => !inbox.over);
    for (const { request } of gone) request.close();
  }

  #drop(): void {
    for (const { request } of this.#requests.splice(0)) request.close();
  }

  /** Where it listens, for `util.inspect` and `console.log`. */
  [inspect.custom](depth: number, options: InspectOptions = {}): string {
    if (this.closed) return 'Server (closed)';
    const shown = { address: this.address(), waiting: this.#requests.length };
    return depth < 0 ? '[Server]' : `Server ${inspect(shown, { ...options, depth: options.depth ?? 1 })}`;
  }
}

function listener(options: ListenOptions, ps: PortSpace): { id: CmId; backlog: number } {
  const given = listenOptions(options, 'options');
  const { port, host, backlog, tos } = given;
  if (host !== undefined && (typeof host !== 'string' || isIP(host) === 0)) {
    throw validate.typeError('options.host', 'an IP address', host);
  }
  const id = sharedChannel(kindOf(given.library, 'options.library')).createId(ps);
  try {
    if (given.reuseAddr) id.setOption(OptionLevel.ID, IdOption.REUSEADDR, 1);
    if (given.ipv6Only) id.setOption(OptionLevel.ID, IdOption.AFONLY, 1);
    if (tos !== undefined) id.setOption(OptionLevel.ID, IdOption.TOS, tos);
    id.bindAddr({ address: host === undefined ? '::' : hostAddress(host, 'options.host'), port });
    id.listen(backlog);
    return { id, backlog };
  } catch (error) {
    id.close();
    throw error;
  }
}

/**
 * Listens for connections: `rdma_bind_addr` and `rdma_listen`.
 *
 * @throws VerbsError EADDRINUSE (the port is taken at this address), EADDRNOTAVAIL (the same, for every address; or the
 *   system does not have the address), ENODEV (no device has it), EACCES (a port below 1024), ENOSYS (no library)
 * @example
 * using server = listen({ port: 7471 });
 * for await (const request of server) {
 *   const connection = await request.accept();
 *   console.log('connected to', connection.remoteAddress);
 * }
 */
export function listen(options: ListenOptions = {}): Server {
  const { id, backlog } = listener(options, PortSpace.TCP);
  return new Server(id, backlog, (inbox, event) => new ConnectionRequest(inbox, event));
}

/**
 * Listens for lookups of a datagram service, see {@link lookup}.
 *
 * @throws VerbsError as {@link listen}
 * @example
 * using service = listenDatagrams({ port: 7471 });
 * for await (const request of service) request.accept({ qp });
 */
export function listenDatagrams(options: ListenOptions = {}): Server<LookupRequest> {
  const { id, backlog } = listener(options, PortSpace.UDP);
  return new Server(id, backlog, (inbox, event) => new LookupRequest(inbox, event));
}
