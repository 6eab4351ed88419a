import type { Context } from '@verbs/core';
import { check, checked, validate } from '@verbs/core/provider';
import { MemId, SwqGranularity } from './enums.js';
import { libraries } from './libraries.js';
import { native, type NativePort } from './native.js';

const U32 = 0xffffffff;
const ARRAYS = 5;
const OFFSETS = 16;

/** `struct hbldv_wq_array_attr`. Both counts 0: the port has no such array. */
export interface WqArrayAttr {
  /** Queue pairs to be used. */
  maxNumOfWqs: number;
  /** Entries of each of their work queues: 16 to 32768. */
  maxNumOfWqesInWq: number;
  /** {@link MemId}, default HOST. */
  memId?: number;
  /** {@link SwqGranularity}, default 32 bytes. */
  swqGranularity?: number;
}

/** `struct hbldv_port_ex_attr`. */
export interface PortExAttr {
  /** Counts from 1. */
  portNum: number;
  /** {@link PortCaps}, or-ed; default 0. */
  caps?: bigint | number;
  /** By {@link WqArrayType}: up to 5, of which only the first is in use. */
  wqArrAttr?: readonly WqArrayAttr[];
  /** Offsets in the NIC's memory for back-pressure signals: up to 16, each up to 0x7ffffff. The first two need ADVANCED. */
  qpWqBpOffs?: readonly number[];
}

/** `struct hbldv_query_port_attr`. */
export type QueryPortAttr = NativePort;

/**
 * `hbldv_set_port_ex`: comes first on a port, exactly once, before its FIFOs, encapsulations and congestion-control
 * completion queues. Not after a default open, which has set all ports up.
 *
 * @throws VerbsError EPERM (done already, or the context is of a default open), EINVAL (a port that the context does not
 *   have, or a value that the device refuses), ENODEV (the port is closed)
 * @example setPortEx(ctx, { portNum: 1, wqArrAttr: [{ maxNumOfWqs: 64, maxNumOfWqesInWq: 256 }] });
 */
export function setPortEx(ctx: Context, attr: PortExAttr): void {
  const syscall = 'hbldv_set_port_ex';
  const { vendor: hbl, handle } = libraries.forContext(ctx, syscall);
  const given = validate.object(attr, 'attr', ['portNum', 'caps', 'wqArrAttr', 'qpWqBpOffs']);
  const portNum = validate.integer(given['portNum'], 'attr.portNum', 0, U32);
  const fields = {
    portNum,
    caps: BigInt(validate.u64(given['caps'] ?? 0, 'attr.caps')),
    wqArrAttr: list(given['wqArrAttr'], 'attr.wqArrAttr', ARRAYS).map(wqArray),
    qpWqBpOffs: list(given['qpWqBpOffs'], 'attr.qpWqBpOffs', OFFSETS).map((offset, i) =>
      validate.integer(offset, `attr.qpWqBpOffs[${i}]`, 0, U32),
    ),
  };
  const code = native.setPortEx(hbl, handle, fields);
  check(code, syscall, { detail: `of port ${portNum}` });
}

/**
 * `hbldv_query_port`. Ports count from 1. Works before {@link setPortEx}.
 *
 * `maxCqSize` is in bytes; `numAllocatedQps` counts the port's own Ethernet queue pair too; a Gaudi2 reports two for
 * `maxNumOfEncaps`, though its limit is one, and never `advanced`.
 *
 * @throws VerbsError EINVAL, ENODEV
 */
export function queryPort(ctx: Context, portNum: number): QueryPortAttr {
  const syscall = 'hbldv_query_port';
  const { vendor: hbl, handle } = libraries.forContext(ctx, syscall);
  validate.integer(portNum, 'portNum', 0, U32);
  const attr = native.queryPort(hbl, handle, portNum);
  return checked(attr, syscall, { detail: `of port ${portNum}` });
}

function list(value: unknown, path: string, max: number): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw validate.typeError(path, 'an array', value);
  if (value.length > max) throw validate.rangeError(`${path}.length`, `at most ${max}`, value.length);
  return value;
}

function wqArray(value: unknown, index: number) {
  const path = `attr.wqArrAttr[${index}]`;
  const given = validate.object(value, path, ['maxNumOfWqs', 'maxNumOfWqesInWq', 'memId', 'swqGranularity']);
  return {
    maxNumOfWqs: validate.integer(given['maxNumOfWqs'], `${path}.maxNumOfWqs`, 0, U32),
    maxNumOfWqesInWq: validate.integer(given['maxNumOfWqesInWq'], `${path}.maxNumOfWqesInWq`, 0, U32),
    memId: validate.optional(given['memId'], `${path}.memId`, U32, MemId.HOST),
    swqGranularity: validate.optional(given['swqGranularity'], `${path}.swqGranularity`, U32, SwqGranularity.GRAN_32B),
  };
}
