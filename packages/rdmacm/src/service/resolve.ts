import { lookup as lookupName } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type LibraryKind, VerbsError } from '@verbs/core';
import {
  errno,
  type FieldsOf,
  maybe,
  u16,
  u31,
  u5,
  u8,
  unchecked,
  unlessAborted,
  validate,
} from '@verbs/core/provider';
import { IdOption, OptionLevel, type PortSpace } from '../base/enums.js';
import { kindOf } from '../base/libraries.js';
import { addressesOf } from '../cm/addresses.js';
import type { ConnParam } from '../cm/conn-param.js';
import { adviceFor, hostAddress } from '../cm/host-address.js';
import { Deadline, deadlineFields, type DeadlineOptions } from './deadline.js';
import { ConnectionError } from './errors.js';
import { Inbox } from './inbox.js';
import { sharedChannel } from './shared-channel.js';

/** The options that connections and lookups have in common. */
export interface PeerOptions extends DeadlineOptions {
  /**
   * The peer's IP address or name; default: this machine, by the addresses of its RDMA devices. All addresses of a name are
   * tried.
   */
  host?: string;
  /** The peer's port, 1 to 65535. */
  port: number;
  /** This side's IP address; default: that of the first device with a route. */
  localAddress?: string;
  /** This side's port; default: any free one. */
  localPort?: number;
  /** Milliseconds that resolving the address, and then the route, may take; default 2000. */
  resolveTimeout?: number;
  /** The traffic class: 0 to 255, default 0. */
  tos?: number;
  /** How long the queue pair waits for an acknowledgement, as its `timeout`: 0 to 31. */
  ackTimeout?: number;
  /** Whose librdmacm: 'system' or 'soft'; default: the system's if it has a device, else the software NIC's. */
  library?: LibraryKind;
}

/** The table of {@link PeerOptions}. */
export const peerFields = {
  ...deadlineFields,
  host: unchecked,
  port: u16(1),
  localAddress: unchecked,
  localPort: maybe(u16()),
  resolveTimeout: maybe(u31()),
  tos: maybe(u8()),
  ackTimeout: maybe(u5()),
  library: unchecked,
};

type CheckedPeer = FieldsOf<typeof peerFields>;

/** An identifier with a route to the peer. */
export interface Resolved {
  inbox: Inbox;
  about: { signal: AbortSignal; syscall: string; detail: string };
}

/**
 * Resolves the peer's addresses one after the other, and calls `use` with an identifier that has a route. Whatever fails,
 * the identifier is closed.
 */
export async function withRoute<T>(
  given: CheckedPeer,
  ps: PortSpace,
  use: (resolved: Resolved) => Promise<T>,
): Promise<T> {
  const syscall = 'rdma_connect';
  const { host, port } = given;
  if (host !== undefined && typeof host !== 'string') throw validate.typeError('options.host', 'a string', host);
  if (host === '') throw validate.valueError('options.host', 'must not be empty');
  const { localAddress } = given;
  if (localAddress !== undefined && (typeof localAddress !== 'string' || isIP(localAddress) === 0)) {
    throw validate.typeError('options.localAddress', 'an IP address', localAddress);
  }
  const source = localAddress === undefined ? undefined : hostAddress(localAddress, 'options.localAddress');
  const kind = kindOf(given.library, 'options.library');
  using deadline = new Deadline(given, syscall, `to ${host ?? 'this machine'} port ${port}`);
  const { signal } = deadline;
  let failure: unknown;
  const found = host === undefined ? addressesOf(kind) : await addressesOfName(host, signal);
  // The given side speaks to addresses of its own family only.
  const addresses = found.filter((address) => source === undefined || isIP(address) === isIP(source));
  for (const address of addresses) {
    const detail = `to ${host === undefined || host === address ? '' : `${host}, `}${address} port ${port}`;
    const id = sharedChannel(kind).createId(ps);
    try {
      const inbox = new Inbox(id);
      const hint = () => adviceFor(address, addressesOf(kind));
      await resolve(
        inbox,
        address,
        { ...given, localAddress: source },
        { signal, syscall: 'rdma_resolve_addr', detail, hint },
      );
      return await use({ inbox, about: { signal, syscall, detail } });
    } catch (error) {
      id.close();
      failure = error;
      const elsewhere = error instanceof ConnectionError && ['ADDR_ERROR', 'ROUTE_ERROR'].includes(error.code);
      if (!elsewhere) throw error;
    }
  }
  if (found.length === 0) {
    throw new VerbsError(errno.ENODEV, 'rdma_resolve_addr', { hint: 'no RDMA device has an address' });
  }
  if (addresses.length === 0) {
    throw new ConnectionError(errno.EAFNOSUPPORT, 'rdma_resolve_addr', {
      code: 'ADDR_ERROR',
      text: 'the address was not resolved (EAFNOSUPPORT)',
      detail: `to ${found.join(', ')} port ${port}`,
      hint: `options.localAddress ${source} is of the other family`,
    });
  }
  throw failure;
}

/** The addresses of a name, in the order of Node's resolver. */
async function addressesOfName(host: string, signal: AbortSignal): Promise<string[]> {
  signal.throwIfAborted();
  if (isIP(host) !== 0) return [hostAddress(host, 'options.host')];
  const found = await unlessAborted(lookupName(host, { all: true }), signal);
  return found.map(({ address }) => address);
}

async function resolve(
  inbox: Inbox,
  address: string,
  given: Omit<CheckedPeer, 'localAddress'> & { localAddress: string | undefined },
  about: Resolved['about'] & { hint: () => string | undefined },
): Promise<void> {
  const { id } = inbox;
  const { port, localAddress, localPort, resolveTimeout, tos, ackTimeout } = given;
  const timeout = resolveTimeout === undefined ? {} : { timeout: resolveTimeout };
  if (tos !== undefined) id.setOption(OptionLevel.ID, IdOption.TOS, tos);
  if (ackTimeout !== undefined) id.setOption(OptionLevel.ID, IdOption.ACK_TIMEOUT, ackTimeout);
  const any = isIP(address) === 6 ? '::' : '0.0.0.0';
  const source = { address: localAddress ?? any, ...(localPort === undefined ? {} : { port: localPort }) };
  const from = localAddress === undefined && localPort === undefined ? {} : { source };
  try {
    id.resolveAddr({ address, port }, { ...from, ...timeout });
  } catch (error) {
    throw addressError(error, about.detail, about.hint());
  }
  await inbox.expect('ADDR_RESOLVED', about);
  id.resolveRoute(timeout);
  await inbox.expect('ROUTE_RESOLVED', { ...about, syscall: 'rdma_resolve_route' });
}

/** The library tells some of the addresses without a device at once, some by an event. */
function addressError(error: unknown, detail: string, hint: string | undefined): unknown {
  if (!(error instanceof VerbsError) || !ADDRESS_CODES.has(error.code)) return error;
  return new ConnectionError(error.errno, error.syscall, {
    code: 'ADDR_ERROR',
    text: `the address was not resolved (${error.code})`,
    detail,
    hint,
    cause: error,
  });
}

const ADDRESS_CODES = new Set(['ENODEV', 'EADDRNOTAVAIL', 'ENETUNREACH', 'EHOSTUNREACH', 'EAFNOSUPPORT']);

/** The parameters among the options of a call. */
export type ParamOptions = Omit<ConnParam, 'srq' | 'qpNum'>;
