import { randomInt } from 'node:crypto';
import { fields, maybe, member, or, u16, u24, u8 } from '../base/fields.js';
import { gidBytes } from '../base/gid.js';
import { routeMtu } from '../base/route.js';
import { object, typeError } from '../base/validate.js';
import { GidType, LinkLayer, Mtu, PortFlags } from '../enums/index.js';
import type { Context } from '../types/objects.js';
import { type ConnectOptions, connectOptions } from './connect.js';

/** One end of a connection, for its peer: plain values, which JSON can carry. See {@link QueuePair.endpoint}. */
export interface QpEndpoint {
  /** The queue pair, 24 bits. */
  qpNum: number;
  /** The first packet sequence number that it sends, 24 bits: a random one. */
  psn: number;
  /** The GID of its port as IPv6 text; missing on InfiniBand where no route is needed. */
  gid?: string;
  /** The LID of its port, on InfiniBand. */
  lid?: number;
  /** The largest packet that it can send to the peer, an {@link Mtu}: see {@link EndpointOptions.peer}. */
  mtu: Mtu;
  /** Reads and atomics that it serves at a time: 0 to 255. */
  rdAtomic: number;
}

/** The options of {@link QueuePair.endpoint}. */
export interface EndpointOptions {
  /** The local port, default 1. */
  portNum?: number | undefined;
  /** Index of this side's GID, 0 to 255; default the first from which a way leads to `peer`, or that of `ctx.defaultGid(portNum)`. */
  sgidIndex?: number | undefined;
  /**
   * The IP address of the peer, where it is known: `mtu` is then what the way from this side's GID to it carries, at most the
   * active MTU of the port. Without it, `mtu` is the active MTU.
   */
  peer?: string | undefined;
}

/** What a queue pair told its peer, and needs for the connection. */
export interface LocalEnd {
  endpoint: QpEndpoint;
  portNum: number;
  sgidIndex: number | undefined;
}

/** A device serves many more at a time; each costs it memory, and a few fill a network. */
const RD_ATOMIC = 16;

/** This end, with a new PSN. */
export function localEnd(context: Context, qpNum: number, { portNum = 1, sgidIndex, peer }: EndpointOptions): LocalEnd {
  const { linkLayer, flags, lid, activeMtu } = context.queryPort(portNum);
  const rdAtomic = Math.min(RD_ATOMIC, context.queryDevice().maxQpRdAtom);
  const common = { qpNum, psn: randomInt(2 ** 24), mtu: activeMtu, rdAtomic };
  if (linkLayer !== LinkLayer.ETHERNET && (flags & PortFlags.GRH_REQUIRED) === 0)
    return { endpoint: { ...common, lid }, portNum, sgidIndex };
  const { gid, index } =
    sgidIndex === undefined
      ? sourceGid(context, portNum, linkLayer === LinkLayer.ETHERNET ? peer : undefined)
      : { gid: context.queryGid(portNum, sgidIndex), index: sgidIndex };
  if (linkLayer !== LinkLayer.ETHERNET) return { endpoint: { ...common, gid, lid }, portNum, sgidIndex: index };
  const mtu = peer === undefined ? activeMtu : pathMtu(gid, peer, activeMtu);
  return { endpoint: { ...common, mtu, gid }, portNum, sgidIndex: index };
}

const text = (value: unknown, path: string, kind: string): string => {
  if (typeof value !== 'string') throw typeError(path, kind, value);
  return value;
};

/** The GID that reaches the peer: the default one, if it does. */
function sourceGid(context: Context, portNum: number, peer: string | undefined): { gid: string; index: number } {
  const usual = context.defaultGid(portNum);
  if (peer === undefined || routeMtu(usual.gid, peer) !== undefined) return usual;
  const table = context.gidTable(portNum).filter(({ type }) => type === GidType.ROCE_V2);
  return table.find(({ gid }) => routeMtu(gid, peer) !== undefined) ?? usual;
}

/** Of an IP packet with all headers that RoCE v2 can have, as the kernel's soft-RoCE computes it. */
const HEADERS = 80;

/**
 * The largest {@link Mtu}, at most `limit`, whose packets the way from a GID of RoCE v2 to an IP address carries: each end of a
 * connection may have another interface. The limit where the machine's network knows no such way.
 */
function pathMtu(gid: string, peer: string, limit: Mtu): Mtu {
  const bytes = routeMtu(gid, peer);
  if (bytes === undefined) return limit;
  const mtus = Object.values(Mtu).filter((mtu) => mtu <= limit && (128 << mtu) + HEADERS <= bytes);
  return Math.max(Mtu.MTU_256, ...mtus);
}

/** Checks the options of `qp.endpoint()`. */
export const endpointOptions = fields({
  portNum: maybe(u8(1)),
  sgidIndex: maybe(u8()),
  peer: maybe((value: unknown, path: string) => text(value, path, 'an IP address as text')),
});

const checks = {
  qpNum: u24(),
  psn: u24(),
  gid: maybe((value: unknown, path: string) => {
    gidBytes(text(value, path, 'IPv6 text'), path);
    return value as string;
  }),
  lid: maybe(u16()),
  mtu: member(Mtu, 'Mtu'),
  rdAtomic: or(u8(), 1),
};

/** What the ends have told each other is not to be chosen. */
const CHOICES = connectOptions.names.filter((name) => name !== 'remote' && name !== 'psn');

/** The options of a connection to a peer's end. Members of it that this version does not know are ignored. */
export function optionsTo(peer: unknown, local: LocalEnd, context: Context, options: object): ConnectOptions {
  if (typeof peer !== 'object' || peer === null) throw typeError('peer', 'what qp.endpoint() of the peer gave', peer);
  const given = peer as Record<string, unknown>;
  if (typeof given['endpoint'] === 'function') throw typeError('peer', 'what endpoint() of the peer gave', peer);
  const qpNum = checks.qpNum(given['qpNum'], 'peer.qpNum');
  const psn = checks.psn(given['psn'], 'peer.psn');
  const gid = checks.gid(given['gid'], 'peer.gid');
  const lid = checks.lid(given['lid'], 'peer.lid');
  const mtu = checks.mtu(given['mtu'], 'peer.mtu');
  const rdAtomic = checks.rdAtomic(given['rdAtomic'], 'peer.rdAtomic');
  const { endpoint, portNum, sgidIndex } = local;
  const chosen = object(options, 'options', CHOICES);
  return {
    remote: { qpNum, psn, ...(gid === undefined ? {} : { gid }), ...(lid === undefined ? {} : { lid }) },
    psn: endpoint.psn,
    portNum,
    ...(sgidIndex === undefined ? {} : { sgidIndex }),
    pathMtu: Math.min(mtu, endpoint.mtu),
    maxRdAtomic: Math.min(rdAtomic, context.queryDevice().maxQpInitRdAtom),
    maxDestRdAtomic: endpoint.rdAtomic,
    ...chosen,
  };
}
