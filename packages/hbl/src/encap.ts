import { isIPv4 } from 'node:net';
import type { Context } from '@verbs/core';
import { checked, coreNative, hintFor, inspection, Resource, softHint, validate } from '@verbs/core/provider';
import { EncapType } from './enums.js';
import { libraries } from './libraries.js';
import { native, type NativeHandle } from './native.js';

const U32 = 0xffffffff;
const U16 = 0xffff;

interface EncapCommon {
  /** Counts from 1. */
  portNum: number;
  /** The outer source address, whatever the type: '10.0.0.1', or a number in host byte order. 0, the default, is the port's own. */
  ipv4Addr?: string | number;
}

/** `struct hbldv_encap_attr`: the C union of `udp_dst_port` and `ip_proto` is one here, by the type. */
export type EncapAttr =
  | (EncapCommon & {
      /** Plain RoCE v2. */
      encapType: typeof EncapType.NO_ENC;
      /** Not used. */
      header?: Uint8Array;
    })
  | (EncapCommon & {
      /** UDP to a port, the header, the RDMA packet. */
      encapType: typeof EncapType.ENC_OVER_UDP;
      /** The destination port of the outer UDP header. */
      udpDstPort: number;
      /** The tunnel header, copied: 0 to 32 bytes in steps of 4; exactly 32 on a gaudi2. */
      header: Uint8Array;
    })
  | (EncapCommon & {
      /** IPv4 with a protocol number, the header, the RDMA packet. */
      encapType: typeof EncapType.ENC_OVER_IPV4;
      /** The protocol number of the outer IPv4 header. */
      ipProto: number;
      /** The tunnel header, copied: 0 to 32 bytes in steps of 4. */
      header: Uint8Array;
    });

/** Open encapsulations by context, port and number: a queue pair names its own by the number. */
const table = new WeakMap<Context, Map<string, WeakRef<Encap>>>();

/**
 * An encapsulation resource. Made by {@link createEncap}; `close()` is `hbldv_destroy_encap`.
 *
 * A queue pair that uses it keeps it alive: the resource goes when both the Encap and those queue pairs are closed.
 */
export class Encap extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The port, from 1. */
  readonly portNum: number;
  /** The hardware's number, for `modifyQp`. 0 is a number like any other. */
  readonly encapNum: number;

  /** @internal */
  constructor(context: Context, portNum: number, made: { handle: NativeHandle; encapNum: number }) {
    super('Encap', made.handle, 'hbldv_destroy_encap', [context]);
    this.context = context;
    this.portNum = portNum;
    this.encapNum = made.encapNum;
    const known = table.get(context) ?? new Map<string, WeakRef<Encap>>();
    table.set(context, known);
    known.set(`${portNum}:${made.encapNum}`, new WeakRef(this));
  }

  protected override describe() {
    const { portNum, encapNum } = this;
    return { portNum, encapNum, context: inspection.brief(this.context) };
  }
}

/** The open encapsulation with that number. */
export function findEncap(context: Context, portNum: number, encapNum: number): Encap | undefined {
  const encap = table.get(context)?.get(`${portNum}:${encapNum}`)?.deref();
  return encap?.closed === false ? encap : undefined;
}

/**
 * `hbldv_create_encap`: a header of the user's in front of the RDMA packets of the queue pairs that it is given to.
 *
 * @throws TypeError, RangeError for a field that is missing, out of its range, or not of the type
 * @throws VerbsError EPERM (no setPortEx yet), EBUSY (none left on the port), EINVAL (the port, the type, the header's
 *   size), EOPNOTSUPP (gaudi2: another type or size), EADDRNOTAVAIL (software: `ipv4Addr` is not this machine's),
 *   ENODEV (the port is closed)
 * @example
 * const vxlan = Uint8Array.of(0x08, 0, 0, 0, 0, 0, 42, 0); // VNI 42
 * const encap = createEncap(ctx, { portNum: 1, encapType: EncapType.ENC_OVER_UDP, udpDstPort: 4789, header: vxlan });
 * // At RTR and at RTS:
 * const ahAttr = { portNum: 1, grh: { dgid: peer.gid } };
 * modifyQp(
 *   qp,
 *   { qpState: QpState.RTR, ahAttr, pathMtu: Mtu.MTU_1024, destQpNum: peer.qpNum, rqPsn: peer.psn },
 *   { caps: QpCaps.ENCAP, encapNum: encap.encapNum },
 * );
 */
export function createEncap(ctx: Context, attr: EncapAttr): Encap {
  const syscall = 'hbldv_create_encap';
  const { vendor: hbl, handle } = libraries.forContext(ctx, syscall);
  const fields = nativeAttr(attr);
  const result = native.createEncap(hbl, handle, fields);
  const made = checked(result, syscall, {
    detail: `on port ${fields.portNum}`,
    hint: knownHint(syscall, result) ?? softHint(ctx.device.library),
  });
  return new Encap(ctx, fields.portNum, made);
}

/** The software NIC reports which address or port it cannot use; for other errors the table has a remedy. */
function knownHint(syscall: string, result: unknown): string | undefined {
  return typeof result === 'number' ? hintFor(syscall, coreNative.errnoName(-result) ?? '') : undefined;
}

function nativeAttr(attr: EncapAttr) {
  const names = ['portNum', 'encapType', 'ipv4Addr', 'udpDstPort', 'ipProto', 'header'];
  const given = validate.object(attr, 'attr', names);
  const encapType = validate.integer(given['encapType'], 'attr.encapType', 0, 2);
  return {
    portNum: validate.integer(given['portNum'], 'attr.portNum', 0, U32),
    encapType,
    ipv4Addr: address(given['ipv4Addr']),
    l4: level(given, encapType),
    header: bytes(given['header'], encapType),
  };
}

/** The member of the union that goes with the type; the other one is refused. */
function level(given: Record<string, unknown>, encapType: number): number {
  const { udpDstPort, ipProto } = given;
  if (udpDstPort !== undefined && encapType !== EncapType.ENC_OVER_UDP) {
    throw validate.valueError('attr.udpDstPort', 'goes with EncapType.ENC_OVER_UDP only');
  }
  if (ipProto !== undefined && encapType !== EncapType.ENC_OVER_IPV4) {
    throw validate.valueError('attr.ipProto', 'goes with EncapType.ENC_OVER_IPV4 only');
  }
  if (encapType === EncapType.ENC_OVER_UDP) return validate.integer(udpDstPort, 'attr.udpDstPort', 0, U16);
  if (encapType === EncapType.ENC_OVER_IPV4) return validate.integer(ipProto, 'attr.ipProto', 0, 255);
  return 0;
}

function address(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'number') return validate.integer(value, 'attr.ipv4Addr', 0, U32);
  if (typeof value !== 'string' || !isIPv4(value)) {
    throw validate.typeError('attr.ipv4Addr', "an IPv4 address ('10.0.0.1') or its number", value);
  }
  return value.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function bytes(value: unknown, encapType: number): Uint8Array | undefined {
  if (value === undefined && encapType === EncapType.NO_ENC) return undefined;
  if (!(value instanceof Uint8Array)) throw validate.typeError('attr.header', 'a Uint8Array', value);
  return value;
}
