import { types } from 'node:util';
import { type Check, fields, flag, maybe, or, u24, u3, u8, validate } from '@verbs/core/provider';
import { PortSpace } from '../base/enums.js';
import type { NativeConnParam } from '../base/native.js';

/** `struct rdma_conn_param`, of `connect` and `accept`. */
export interface ConnParam {
  /**
   * Bytes for the peer, or text. A request has room for 56 (a lookup for 180), an accept for 196 (of a lookup 136). The
   * peer gets all of the room, filled with zeros: the length does not travel.
   */
  privateData?: Uint8Array | string;
  /** RDMA reads and atomics of the peer that this side serves at a time; default: as many as the device can. */
  responderResources?: number;
  /** RDMA reads and atomics of this side at a time; default: as many as the device can. */
  initiatorDepth?: number;
  /** Whether the hardware's flow control is used; default false. */
  flowControl?: boolean;
  /** Retransmissions after timeouts: 0 to 7, default 7; an accept ignores it. */
  retryCount?: number;
  /** Retransmissions while the peer has no receive request: 0 to 7, default 7: no limit. */
  rnrRetryCount?: number;
  /** Whether the queue pair has a shared receive queue. For an identifier without a queue pair. */
  srq?: boolean;
  /** The queue pair to be connected, 24 bits. For an identifier without a queue pair. */
  qpNum?: number;
}

/** The peer's `struct rdma_conn_param`, of an event. */
export interface FullConnParam {
  /** What the peer sent, filled with zeros up to the room of the message; undefined if there is none. */
  privateData?: Uint8Array;
  /** RDMA reads and atomics of this side that the peer serves at a time. */
  responderResources: number;
  /** RDMA reads and atomics of the peer at a time. */
  initiatorDepth: number;
  /** Whether the hardware's flow control is used. */
  flowControl: boolean;
  /** Of a request: retransmissions after timeouts. */
  retryCount: number;
  /** Retransmissions while there is no receive request; 7: no limit. */
  rnrRetryCount: number;
  /** Whether the peer has a shared receive queue. */
  srq: boolean;
  /** The peer's queue pair. */
  qpNum: number;
}

/** The room for private data of each message, in bytes: of a connection, and of a lookup (PortSpace.UDP). */
const ROOM = {
  rdma_connect: { message: 'a request', connection: 56, lookup: 180 },
  rdma_accept: { message: 'an accept', connection: 196, lookup: 136 },
  rdma_reject: { message: 'a reject', connection: 148, lookup: 136 },
  rdma_reject_ece: { message: 'a reject', connection: 148, lookup: 136 },
} as const;

/** Why one of these calls was refused with EINVAL, if it is for the private data. */
export function dataReason(syscall: keyof typeof ROOM, ps: number, data: Uint8Array | undefined): string | undefined {
  const { message, ...rooms } = ROOM[syscall];
  const lookup = ps === PortSpace.UDP;
  const room = lookup ? rooms.lookup : rooms.connection;
  if (data === undefined || data.byteLength <= room) return undefined;
  return `privateData has ${data.byteLength} bytes, and ${message} of a ${lookup ? 'lookup' : 'connection'} has room for ${room}`;
}

/** `RDMA_MAX_RESP_RES`, `RDMA_MAX_INIT_DEPTH`: as many as the device can. */
const MOST = 0xff;

/** Private data, text as UTF-8. */
export const privateData: Check<Uint8Array | undefined> = (value, path) => {
  if (value === undefined) return undefined;
  const bytes: unknown = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (!types.isUint8Array(bytes)) throw validate.typeError(path, 'a Uint8Array or a string', value);
  if (bytes.byteLength > 255) throw validate.rangeError(`${path}.byteLength`, 'at most 255', bytes.byteLength);
  return bytes;
};

/** The fields of {@link ConnParam} that do not describe a queue pair, for tables of options. */
export const paramFields = {
  privateData,
  responderResources: or(u8(), MOST),
  initiatorDepth: or(u8(), MOST),
  flowControl: flag(),
  retryCount: or(u3(), 7),
  rnrRetryCount: or(u3(), 7),
};

const connParam = maybe(fields({ ...paramFields, srq: flag(), qpNum: or(u24(), 0) }));

/** The checked fields in the form of the addon. */
export function nativeConnParam(value: unknown, path: string): NativeConnParam | undefined {
  const given = connParam(value, path);
  if (given === undefined) return undefined;
  const { privateData, flowControl, srq, ...numbers } = given;
  return { privateData, ...numbers, flowControl: Number(flowControl), srq: Number(srq) };
}

export function publicConnParam(param: NativeConnParam): FullConnParam {
  const { privateData: data, flowControl, srq, ...numbers } = param;
  return {
    ...(data === undefined ? {} : { privateData: data }),
    ...numbers,
    flowControl: flowControl !== 0,
    srq: srq !== 0,
  };
}
