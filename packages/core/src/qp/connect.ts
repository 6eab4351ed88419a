import { fields, maybe, member, or, u16, u24, u3, u31, u32, u4, u5, u8 } from '../base/fields.js';
import { gidBytes } from '../base/gid.js';
import { typeError } from '../base/validate.js';
import { AccessFlags, Mtu, QpState, QpType } from '../enums/index.js';
import type { Gid } from '../types/ah-attr.js';
import type { QpAttr } from '../types/qp-attr.js';

/** The options of {@link QueuePair.connect}, with their defaults. */
export interface ConnectOptions {
  /** The peer's side, exchanged out of band. */
  remote: {
    /** Its queue pair, 24 bits. */
    qpNum: number;
    /** The first packet sequence number that it sends, 24 bits; default 0. */
    psn?: number;
    /** Its GID: required on RoCE. */
    gid?: Gid;
    /** Its LID on InfiniBand, 0 to 65535: required there without a GID. */
    lid?: number;
  };
  /** The first packet sequence number of this side, 24 bits; default 0. */
  psn?: number;
  /** The local port, default 1. */
  portNum?: number;
  /** Index of this side's GID (`ctx.gidTable(portNum)`), 0 to 255; default that of `ctx.defaultGid(portNum)`. */
  sgidIndex?: number;
  /** The largest packet, at most `activeMtu` of both ports; see {@link Mtu}; default MTU_1024. */
  pathMtu?: Mtu;
  /** The peer's rights: {@link AccessFlags}, default LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ. */
  access?: AccessFlags;
  /** RC, XRC: the wait for an acknowledgement: 4.096 µs · 2^n, 0 to 31, 0 waits forever; default 14 (67 ms). */
  timeout?: number;
  /** RC, XRC: retransmissions after timeouts: 0 to 7, default 7. */
  retryCnt?: number;
  /** RC, XRC: retransmissions while the peer has no receive request: 0 to 7, default 7: no limit. */
  rnrRetry?: number;
  /** RC, XRC: how long a peer waits after an RNR NAK, as a code: 0 to 31, default 12 (0.64 ms). */
  minRnrTimer?: number;
  /** RC, XRC: reads and atomics on their way from this side at a time: 0 to 255, default 1. */
  maxRdAtomic?: number;
  /** RC, XRC: reads and atomics of the peer that this side serves at a time: 0 to 255, default 1. */
  maxDestRdAtomic?: number;
  /** How many routers may forward a packet: 0 to 255, default 64. */
  hopLimit?: number;
  /** The upper six bits are the DSCP, the lower two ECN: 0 to 255, default 0. */
  trafficClass?: number;
  /** Service level: 0 to 15, default 0. */
  sl?: number;
}

/** The options of {@link QueuePair.activate} for a RAW_PACKET queue pair. */
export interface RawActivateOptions {
  /** The local port, default 1. */
  portNum?: number;
}

/** The options of {@link QueuePair.activate}. */
export interface ActivateOptions {
  /** 32 bits: datagrams must carry it. */
  qkey: number;
  /** The local port; default 1, or that of `init()`. */
  portNum?: number;
  /** The first packet sequence number, 24 bits; default 0. */
  psn?: number;
  /** Which of the port's partition keys, an index; default 0, or that of `init()`. */
  pkeyIndex?: number;
}

const DEFAULT_ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;

export const connectOptions = fields({
  remote: fields({ qpNum: u24(), psn: or(u24(), 0), gid: maybe(gidBytes), lid: maybe(u16()) }),
  psn: or(u24(), 0),
  portNum: or(u8(), 1),
  sgidIndex: maybe(u8()),
  pathMtu: or(member(Mtu, 'Mtu'), Mtu.MTU_1024),
  access: maybe(u31()),
  timeout: or(u5(), 14),
  retryCnt: or(u3(), 7),
  rnrRetry: or(u3(), 7),
  minRnrTimer: or(u5(), 12),
  maxRdAtomic: or(u8(), 1),
  maxDestRdAtomic: or(u8(), 1),
  hopLimit: or(u8(), 64),
  trafficClass: or(u8(), 0),
  sl: or(u4(), 0),
});

/** What the steps of a connection depend on beside its options. */
export interface ConnectFacts {
  qpType: number;
  /** It is in INIT already. */
  inInit: boolean;
  /** Finds the index of this side's GID where none is given. */
  defaultSgid: (portNum: number) => number;
}

/** The steps from RESET, or from INIT, to RTS of a connected queue pair. */
export function connectSteps(value: unknown, { qpType, inInit, defaultSgid }: ConnectFacts): QpAttr[] {
  const { remote, portNum, sgidIndex, hopLimit, trafficClass, sl, ...options } = connectOptions(value, 'options');
  const { gid, lid } = remote;
  if (gid === undefined && lid === undefined) {
    throw typeError('options.remote.gid', 'a GID (or options.remote.lid a LID, on InfiniBand)', undefined);
  }
  // An initiator of XRC only sends, a target only receives.
  const sends = qpType === QpType.RC || qpType === QpType.XRC_SEND;
  const receives = qpType === QpType.RC || qpType === QpType.XRC_RECV;
  const { psn, pathMtu, access, timeout, retryCnt, rnrRetry, minRnrTimer, maxRdAtomic, maxDestRdAtomic } = options;
  const route = (dgid: Gid) => ({
    grh: { dgid, sgidIndex: sgidIndex ?? defaultSgid(portNum), hopLimit, trafficClass },
  });
  const init: QpAttr = {
    qpState: QpState.INIT,
    pkeyIndex: 0,
    portNum,
    qpAccessFlags: access ?? DEFAULT_ACCESS,
  };
  return [
    ...(inInit ? [] : [init]),
    {
      qpState: QpState.RTR,
      pathMtu,
      destQpNum: remote.qpNum,
      rqPsn: remote.psn,
      ahAttr: { portNum, sl, dlid: lid ?? 0, ...(gid === undefined ? {} : route(gid)) },
      ...(receives ? { maxDestRdAtomic, minRnrTimer } : {}),
      ...(inInit && access !== undefined ? { qpAccessFlags: access } : {}),
    },
    {
      qpState: QpState.RTS,
      sqPsn: psn,
      ...(sends || receives ? { timeout } : {}),
      ...(sends ? { retryCnt, rnrRetry, maxRdAtomic } : {}),
    },
  ];
}

/** The options of {@link QueuePair.init}. */
export interface InitOptions {
  /** The local port, default 1. */
  portNum?: number;
  /** RC, UC, XRC: the peer's rights: {@link AccessFlags}, default LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ. */
  access?: AccessFlags;
  /** UD: datagrams must carry it, 32 bits. Required there. */
  qkey?: number;
  /** Which of the port's partition keys, an index; default 0. Not of RAW_PACKET. */
  pkeyIndex?: number;
}

const port = { portNum: or(u8(), 1) };
const keyed = { ...port, pkeyIndex: or(u16(), 0) };
const connectedInit = fields({ ...keyed, access: or(u31(), DEFAULT_ACCESS) });
const datagramInit = fields({ ...keyed, qkey: u32() });
const rawOptions = fields(port);

/** The step to INIT. An option of another type of queue pair is refused as one that is misspelt. */
export function initStep(value: InitOptions, qpType: number): QpAttr {
  const qpState = QpState.INIT;
  if (qpType === QpType.RAW_PACKET) return { qpState, ...rawOptions(value, 'options') };
  if (qpType === QpType.UD) return { qpState, ...datagramInit(value, 'options') };
  const { access: qpAccessFlags, ...rest } = connectedInit(value, 'options');
  return { qpState, ...rest, qpAccessFlags };
}

const activateOptions = fields({ portNum: maybe(u8()), pkeyIndex: maybe(u16()), qkey: u32(), psn: or(u24(), 0) });

/** The steps from RESET, or from INIT, to RTS of a queue pair without a peer. */
export function activateSteps(value: unknown, qpType: number, inInit: boolean): QpAttr[] {
  if (qpType === QpType.RAW_PACKET) {
    const { portNum } = rawOptions(value ?? {}, 'options');
    return [{ qpState: QpState.INIT, portNum }, { qpState: QpState.RTR }, { qpState: QpState.RTS }].slice(
      inInit ? 1 : 0,
    );
  }
  const { psn, ...given } = activateOptions(value, 'options');
  // From INIT to INIT what is given changes, and what init() has set stays.
  return [
    { qpState: QpState.INIT, ...(inInit ? {} : { portNum: 1, pkeyIndex: 0 }), ...given },
    { qpState: QpState.RTR },
    { qpState: QpState.RTS, sqPsn: psn },
  ];
}
