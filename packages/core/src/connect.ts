import { AccessFlags, Mtu, QpState, QpType } from './enums.js';
import { type Gid } from './gid.js';
import type { QpAttr } from './qp-attr.js';
import { object, optional, typeError } from './validate.js';

/** What {@link QueuePair.connect} needs; what is left out has the value given here. */
export interface ConnectOptions {
  /** The peer's side, learned over some other way. `lid` is for InfiniBand, `gid` for RoCE. */
  remote: { qpNum: number; psn?: number; gid?: Gid; lid?: number };
  /** The first packet sequence number of this side, default 0. */
  psn?: number;
  /** Default 1. */
  portNum?: number;
  /** Index of this side's GID, default 0. */
  sgidIndex?: number;
  /** See {@link Mtu}; default MTU_1024. */
  pathMtu?: number;
  /** What the peer may do: {@link AccessFlags}, default LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ. */
  access?: number;
  /** RC: 4.096 µs · 2^n, default 14 (67 ms). */
  timeout?: number;
  /** RC: default 7. */
  retryCnt?: number;
  /** RC: default 7, forever. */
  rnrRetry?: number;
  /** RC: default 12 (0.64 ms). */
  minRnrTimer?: number;
  /** RC: default 1. */
  maxRdAtomic?: number;
  /** RC: default 1. */
  maxDestRdAtomic?: number;
  hopLimit?: number;
  trafficClass?: number;
  sl?: number;
}

/** What {@link QueuePair.activate} needs. */
export interface ActivateOptions {
  /** Datagrams must carry it. */
  qkey: number;
  /** Default 1. */
  portNum?: number;
  /** Default 0. */
  psn?: number;
  /** Default 0. */
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
