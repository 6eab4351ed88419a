import { enumName, type FullAhAttr } from '@verbs/core';
import { publicQpAttr } from '@verbs/core/provider';
import { CmEventType } from '../base/enums.js';
import type { NativeEvent } from '../base/native.js';
import type { CmId } from '../base/objects.js';
import { type FullConnParam, publicConnParam } from './conn-param.js';

/** `struct rdma_ud_param` of an event: a datagram service, or a multicast group. */
export interface UdParam {
  /** What the peer sent, filled with zeros up to the room of the message; undefined if there is none. */
  privateData?: Uint8Array;
  /** The route, for `pd.createAh()`. */
  ahAttr: FullAhAttr;
  /** The queue pair; 0xffffff for a multicast group. */
  qpNum: number;
  /** Datagrams must carry it. */
  qkey: number;
}

/** `struct rdma_cm_event`. It is acknowledged already. */
export interface CmEvent {
  /** See {@link CmEventType}. */
  event: CmEventType;
  /** The name of `event`. */
  name: keyof typeof CmEventType;
  /** 0, or the reason of a failure: a negative errno; of REJECTED one of {@link RejectReason}. */
  status: number;
  /** The identifier that the event is of; of a CONNECT_REQUEST a new one. Undefined if it was collected. */
  id: CmId | undefined;
  /** Of a CONNECT_REQUEST: the identifier that listens. */
  listenId?: CmId;
  /** The peer's parameters, of events that have them on an identifier for connections. */
  conn?: FullConnParam;
  /** The same for datagrams and multicast. */
  ud?: UdParam;
  /** Of USER: the value of {@link CmId.writeCmEvent}. */
  arg?: bigint;
}

/** An event for programs, from that of the addon. */
export function cmEvent(raw: NativeEvent, id: CmId | undefined, listenId: CmId | undefined): CmEvent {
  const { event, status, conn, ud, arg } = raw;
  return {
    event: event,
    name: enumName(CmEventType, event) as CmEvent['name'],
    status,
    id,
    ...(listenId && { listenId }),
    ...(conn && { conn: publicConnParam(conn) }),
    ...(ud && { ud: publicUdParam(ud) }),
    ...(arg !== undefined && { arg }),
  };
}

function publicUdParam({ privateData, attr, qpNum, qkey }: NonNullable<NativeEvent['ud']>): UdParam {
  return { ...(privateData && { privateData }), ahAttr: publicQpAttr(attr).ahAttr, qpNum, qkey };
}
