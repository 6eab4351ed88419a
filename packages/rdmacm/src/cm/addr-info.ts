import { type LibraryKind, type QpType, VerbsError } from '@verbs/core';
import { errno, fields, maybe, or, u16, u31, unchecked, validate } from '@verbs/core/provider';
import type { AddrInfoFlags, PortSpace } from '../base/enums.js';
import { kindOf, libraries } from '../base/libraries.js';
import { native, type NativeAddrInfo } from '../base/native.js';
import { type FullSocketAddress, nativeAddress, publicAddress, type SocketAddress } from './socket-address.js';

/** `struct rdma_addrinfo`. */
export interface AddrInfo {
  /** {@link AddrInfoFlags}, or-ed. */
  flags: AddrInfoFlags;
  /** `AF_INET` (2) or `AF_INET6` (10). */
  family: number;
  /** See `QpType` of @verbs/core. */
  qpType: QpType;
  /** See {@link PortSpace}. */
  portSpace: PortSpace;
  /** This side's address. */
  srcAddr: FullSocketAddress | undefined;
  /** The peer's address. */
  dstAddr: FullSocketAddress | undefined;
  /** This side's name. */
  srcCanonname?: string;
  /** The peer's name. */
  dstCanonname?: string;
}

/** What to look for. */
export interface AddrInfoHints {
  /** {@link AddrInfoFlags}, or-ed; default 0. */
  flags?: AddrInfoFlags;
  /** With AddrInfoFlags.FAMILY: `AF_INET` (2) or `AF_INET6` (10). */
  family?: number;
  /** See `QpType` of @verbs/core. */
  qpType?: QpType;
  /** See {@link PortSpace}. */
  portSpace?: PortSpace;
  /** This side's address. */
  srcAddr?: SocketAddress;
  /** Whose librdmacm; default as of {@link connect}. */
  library?: LibraryKind;
}

const checkHints = fields({
  flags: or(u31(), 0),
  family: or(u16(), 0),
  qpType: or(u16(), 0),
  portSpace: or(u16(), 0),
  srcAddr: maybe((value, path) => nativeAddress(value, path)),
  library: unchecked,
});

/** The errors of `getaddrinfo(3)`, which librdmacm passes on. */
const EAI: Readonly<Record<number, string>> = {
  [-1]: 'EAI_BADFLAGS',
  [-2]: 'EAI_NONAME',
  [-3]: 'EAI_AGAIN',
  [-4]: 'EAI_FAIL',
  [-6]: 'EAI_FAMILY',
  [-8]: 'EAI_SERVICE',
  [-10]: 'EAI_MEMORY',
};

/**
 * `rdma_getaddrinfo` and `rdma_freeaddrinfo`, on a thread of Node's pool: a name server may be asked.
 *
 * @param node a name or an address; undefined for any
 * @param service a port, or the name of a service; undefined for any
 * @throws VerbsError with the library's errno, or the code of getaddrinfo(3), EAI_NONAME
 * @example const [found] = await getaddrinfo('localhost', '7471', { portSpace: PortSpace.TCP });
 */
export async function getaddrinfo(
  node: string | undefined,
  service?: string | number,
  hints: AddrInfoHints = {},
): Promise<AddrInfo[]> {
  const syscall = 'rdma_getaddrinfo';
  const { port, library, given } = lookupArguments(node, service, hints);
  const { vendor } = libraries.for(kindOf(library, 'hints.library'), syscall);
  const found = await native.getaddrinfo(vendor, node, port, given);
  if (Array.isArray(found)) return found.map(publicInfo);
  const detail = [node, port].filter((part) => part !== undefined).join(' ');
  const code = EAI[found.result];
  // -1 is the library's own failure as well as EAI_BADFLAGS.
  if (code === undefined || (found.result === -1 && found.errno !== 0)) {
    throw new VerbsError(found.errno === 0 ? errno.EIO : found.errno, syscall, { detail });
  }
  throw new VerbsError(errno.ENOENT, syscall, { detail, code, text: 'the address was not found' });
}

/** @internal The checked arguments of a lookup. */
export function lookupArguments(node: unknown, service: unknown, hints: unknown) {
  if (node !== undefined && typeof node !== 'string') throw validate.typeError('node', 'a string', node);
  const port = typeof service === 'number' ? String(validate.integer(service, 'service', 0, 0xffff)) : service;
  if (port !== undefined && typeof port !== 'string') throw validate.typeError('service', 'a string or a port', port);
  const { library, srcAddr, ...given } = checkHints(hints, 'hints');
  return { port, library, given: { ...given, srcAddr } };
}

/** @internal The result for programs, from that of the addon. */
export function publicInfo({ srcAddr, dstAddr, ...info }: NativeAddrInfo): AddrInfo {
  return { ...info, srcAddr: publicAddress(srcAddr), dstAddr: publicAddress(dstAddr) };
}
