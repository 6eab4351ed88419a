import { AccessFlags, Mtu, QpState, QpType } from '../enums/index.js';
import { type Gid } from '../base/gid.js';
import type { QpAttr } from './qp-attr.js';
import { object, optional, typeError } from '../base/validate.js';

/** What {@link QueuePair.connect} needs; what is left out has the value given here. */
export interface ConnectOptions {
  /** The peer's side, learned over some other way. */
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
  /** Index of this side's GID (`ctx.gidTable(portNum)`), 0 to 255, default 0. */
  sgidIndex?: number;
  /** The largest packet, at most `activeMtu` of both ports; see {@link Mtu}; default MTU_1024. */
  pathMtu?: number;
  /** What the peer may do: {@link AccessFlags}, default LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ. */
  access?: number;
  /** RC, XRC: the wait for an acknowledgement: 4.096 µs · 2^n, 0 to 31, 0 waits forever; default 14 (67 ms). */
  timeout?: number;
  /** RC, XRC: repetitions after timeouts: 0 to 7, default 7. */
  retryCnt?: number;
  /** RC, XRC: repetitions while the peer has no receive request: 0 to 7, default 7: forever. */
  rnrRetry?: number;
  /** RC, XRC: how long a peer waits before it repeats, as a code: 0 to 31, default 12 (0.64 ms). */
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

/** What {@link QueuePair.activate} needs. */
export interface ActivateOptions {
  /** 32 bits: datagrams must carry it. */
  qkey: number;
  /** The local port, default 1. */
  portNum?: number;
  /** The first packet sequence number, 24 bits; default 0. */
  psn?: number;
  /** Which of the port's partition keys, an index; default 0. */
  pkeyIndex?: number;
}

const connectNames = [
  'remote',
  'psn',
  'portNum',
  'sgidIndex',
  'pathMtu',
  'access',
  'timeout',
  'retryCnt',
  'rnrRetry',
  'minRnrTimer',
  'maxRdAtomic',
  'maxDestRdAtomic',
  'hopLimit',
  'trafficClass',
  'sl',
];

/** The three steps from RESET to RTS of a connected queue pair. */
export function connectSteps(value: ConnectOptions, qpType: number): QpAttr[] {
  const given = object(value, 'options', connectNames);
  const remote = object(given['remote'], 'options.remote', ['qpNum', 'psn', 'gid', 'lid']);
  const number = (name: string, max: number, otherwise: number) =>
    optional(given[name], `options.${name}`, max, otherwise);
  if (remote['gid'] === undefined && remote['lid'] === undefined) {
    throw typeError('options.remote.gid', 'a GID (or options.remote.lid a LID, on InfiniBand)', undefined);
  }
  // An initiator of XRC only sends, a target only receives.
  const sends = qpType === QpType.RC || qpType === QpType.XRC_SEND;
  const receives = qpType === QpType.RC || qpType === QpType.XRC_RECV;
  const portNum = number('portNum', 255, 1);
  const access = number(
    'access',
    0x7fffffff,
    AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ,
  );
  const grh = {
    dgid: remote['gid'] as Gid,
    sgidIndex: number('sgidIndex', 255, 0),
    hopLimit: number('hopLimit', 255, 64),
    trafficClass: number('trafficClass', 255, 0),
  };
  return [
    { qpState: QpState.INIT, pkeyIndex: 0, portNum, qpAccessFlags: access },
    {
      qpState: QpState.RTR,
      pathMtu: number('pathMtu', 5, Mtu.MTU_1024),
      destQpNum: optional(remote['qpNum'] ?? NaN, 'options.remote.qpNum', 0xffffff, 0),
      rqPsn: optional(remote['psn'], 'options.remote.psn', 0xffffff, 0),
      ahAttr: {
        portNum,
        sl: number('sl', 15, 0),
        dlid: optional(remote['lid'], 'options.remote.lid', 0xffff, 0),
        ...(remote['gid'] === undefined ? {} : { grh }),
      },
      ...(receives
        ? { maxDestRdAtomic: number('maxDestRdAtomic', 255, 1), minRnrTimer: number('minRnrTimer', 31, 12) }
        : {}),
    },
    {
      qpState: QpState.RTS,
      sqPsn: number('psn', 0xffffff, 0),
      ...(sends || receives ? { timeout: number('timeout', 31, 14) } : {}),
      ...(sends
        ? {
            retryCnt: number('retryCnt', 7, 7),
            rnrRetry: number('rnrRetry', 7, 7),
            maxRdAtomic: number('maxRdAtomic', 255, 1),
          }
        : {}),
    },
  ];
}

/** The three steps from RESET to RTS of a datagram queue pair. */
export function activateSteps(value: ActivateOptions): QpAttr[] {
  const given = object(value, 'options', ['qkey', 'portNum', 'psn', 'pkeyIndex']);
  return [
    {
      qpState: QpState.INIT,
      pkeyIndex: optional(given['pkeyIndex'], 'options.pkeyIndex', 0xffff, 0),
      portNum: optional(given['portNum'], 'options.portNum', 255, 1),
      qkey: optional(given['qkey'] ?? NaN, 'options.qkey', 0xffffffff, 0),
    },
    { qpState: QpState.RTR },
    { qpState: QpState.RTS, sqPsn: optional(given['psn'], 'options.psn', 0xffffff, 0) },
  ];
}
