import { isIPv4 } from 'node:net';
import type { Context } from '@verbs/core';
import {
  fields,
  checked,
  coreNative,
  errno,
  hintFor,
  inspection,
  or,
  range,
  Resource,
  softHint,
  u32,
  uint8Array,
  unchecked,
  validate,
  watchForLeak,
} from '@verbs/core/provider';
import { portHint } from './device.js';
import { EncapType } from './enums.js';
import { forContext } from './libraries.js';
import { native, type NativeHandle } from './native.js';

const U32 = 0xffffffff;
const U16 = 0xffff;
/** Bytes. */
const MAX_HEADER = 32;
/** Its number among the protocols of IPv4. */
const UDP = 17;

interface EncapCommon {
  /** Counts from 1. */
  portNum: number;
  /** The outer source address: '10.0.0.1', or a number in host byte order. 0, the default, is the port's own address. */
  ipv4Addr?: string | number;
}

/** `struct hbldv_encap_attr`: `encapType` selects the member of the C union, `udpDstPort` or `ipProto`. */
export type EncapAttr =
  | (EncapCommon & {
      /** Plain RoCE v2. */
      encapType: typeof EncapType.NO_ENC;
      /** Ignored. */
      header?: Uint8Array;
    })
  | (EncapCommon & {
      /** An outer UDP header, then `header`, then the RDMA packet. */
      encapType: typeof EncapType.ENC_OVER_UDP;
      /** The destination port of the outer UDP header. */
      udpDstPort: number;
      /** The tunnel header, copied: 0 to 32 bytes in steps of 4; exactly 32 on a gaudi2. */
      header: Uint8Array;
    })
  | (EncapCommon & {
      /** An outer IPv4 header with a protocol number, then `header`, then the RDMA packet. */
      encapType: typeof EncapType.ENC_OVER_IPV4;
      /** The protocol number of the outer IPv4 header. */
      ipProto: number;
      /** The tunnel header, copied: 0 to 32 bytes in steps of 4. */
      header: Uint8Array;
    });

/**
 * Open encapsulations by device, port and number: `modifyQp` names them by the number. The default opens of a device are one
 * context for the library, so that a queue pair of one of them may use an encapsulation of another.
 */
const table = new Map<string, WeakRef<Encap>>();

function keyOf({ device }: Context, portNum: number, encapNum: number): string {
  return [device.library, device.name, portNum, encapNum].join(':');
}

/**
 * An encapsulation resource. Made by {@link createEncap}; `close()` is `hbldv_destroy_encap`.
 *
 * A queue pair that uses it keeps it alive: the resource is freed when the Encap and all these queue pairs are closed.
 */
export class Encap extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The port, from 1. */
  readonly portNum: number;
  /** The hardware's number, for `modifyQp`. 0 is a valid number. */
  readonly encapNum: number;

  /** @internal */
  constructor(context: Context, portNum: number, made: { handle: NativeHandle; encapNum: number }) {
    super('Encap', made.handle, 'hbldv_destroy_encap', [context]);
    this.context = context;
    this.portNum = portNum;
    this.encapNum = made.encapNum;
    table.set(keyOf(context, portNum, made.encapNum), new WeakRef(this));
    watchForLeak(this, 'Encap', 'its queue pairs lose their tunnel');
  }

  protected override describe() {
    const { portNum, encapNum } = this;
    return { portNum, encapNum, context: inspection.brief(this.context) };
  }
}

/** The open encapsulation with that number. */
export function findEncap(context: Context, portNum: number, encapNum: number): Encap | undefined {
  const encap = table.get(keyOf(context, portNum, encapNum))?.deref();
  return encap?.closed === false ? encap : undefined;
}

/**
 * `hbldv_create_encap`: a header of the program, which the device puts in front of the RDMA packets of its queue pairs.
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
  const { vendor: hbl, handle } = forContext(ctx, syscall);
  const given = nativeAttr(attr);
  const result = native.createEncap(hbl, handle, given);
  const made = checked(result, syscall, {
    detail: `on port ${given.portNum}`,
    hint: cause(ctx, given, result) ?? knownHint(syscall, result) ?? softHint(ctx.device.library),
  });
  return new Encap(ctx, given.portNum, made);
}

/** Which value the library means by EINVAL; undefined where only the general remedy is left. */
function cause(ctx: Context, { portNum, encapType, l4, header }: ReturnType<typeof nativeAttr>, result: unknown) {
  if (result !== -errno.EINVAL) return undefined;
  const wrongPort = portHint(ctx, portNum, result);
  if (wrongPort !== undefined) return wrongPort;
  const size = header?.byteLength ?? 0;
  if (size > MAX_HEADER || size % 4 !== 0)
    return `attr.header has ${size} bytes; it has 0 to ${MAX_HEADER}, in steps of 4`;
  if (encapType === EncapType.ENC_OVER_UDP && l4 === 0) return 'attr.udpDstPort is 0; ports are 1 to 65535';
  if (encapType !== EncapType.ENC_OVER_IPV4) return undefined;
  return l4 === 0 || l4 === UDP
    ? `attr.ipProto is ${l4}; it is 1 to 255, and for UDP there is ENC_OVER_UDP`
    : undefined;
}

/** The software NIC reports which address or port it cannot use; for other errors the table has a remedy. */
function knownHint(syscall: string, result: unknown): string | undefined {
  return typeof result === 'number' ? hintFor(syscall, coreNative.errnoName(-result) ?? '') : undefined;
}

const checkAttr = fields({
  portNum: u32(),
  encapType: range(0, 2),
  ipv4Addr: or(address, 0),
  udpDstPort: unchecked,
  ipProto: unchecked,
  header: unchecked,
});

function nativeAttr(attr: EncapAttr) {
  const given = checkAttr(attr, 'attr');
  const { portNum, encapType, ipv4Addr } = given;
  return { portNum, encapType, ipv4Addr, l4: level(given, encapType), header: bytes(given.header, encapType) };
}

/** The member of the union that belongs to the type; the other one is an error. */
function level({ udpDstPort, ipProto }: { udpDstPort?: unknown; ipProto?: unknown }, encapType: number): number {
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

function address(value: unknown, path: string): number {
  if (typeof value === 'number') return validate.integer(value, path, 0, U32);
  if (typeof value !== 'string' || !isIPv4(value)) {
    throw validate.typeError(path, "an IPv4 address ('10.0.0.1') or its number", value);
  }
  return value.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function bytes(value: unknown, encapType: number): Uint8Array | undefined {
  if (value === undefined && encapType === EncapType.NO_ENC) return undefined;
  return uint8Array(value, 'attr.header');
}
