import { type Context, type DeviceInfo, type DeviceList, VerbsError } from '@verbs/core';
import {
  adoptContext,
  checked,
  errno,
  chooseVendorDevice,
  fields,
  isVendorDevice,
  listVendorDevices,
  or,
  range,
  softHint,
  u64,
  validate,
} from '@verbs/core/provider';
import { forContext, libraries } from './libraries.js';
import { native } from './native.js';

const S32 = 0x7fffffff;
const OPEN = 'hbldv_open_device';

/** `struct hbldv_ucontext_attr`. */
export interface OpenAttr {
  /** The ports to open: bit n is port n, bit 0 is reserved. 0, the default, is all of them. */
  portsMask?: bigint | number;
  /** A descriptor of the core device; the caller keeps it. Default -1; the software model needs none. */
  coreFd?: number;
}

const openAttr = fields({ portsMask: or(portsMask, 0n), coreFd: or(range(-1, S32), -1) });

function portsMask(value: unknown, path: string): bigint {
  const mask = u64()(value, path);
  if ((mask & 1n) === 0n) return mask;
  throw validate.valueError(path, 'has bit 0 set: ports count from 1, bit n is port n');
}

/**
 * `hbldv_is_supported`: whether the device is a Habana device, or a model of one.
 *
 * @example listDevices().filter(isSupported)
 */
export function isSupported(device: DeviceInfo): boolean {
  return isVendorDevice(libraries, device);
}

/**
 * The supported devices of both libraries, hardware first. The software NIC has one, `hbl_0`, if its configuration names
 * no other. The `reason` of an empty list says why it is empty.
 */
export function listDevices(): DeviceList {
  return listVendorDevices(libraries);
}

/**
 * `hbldv_open_device`. Without a device: the first of {@link listDevices}. Without `attr` it is a default open: the
 * kernel sets up all ports, {@link setPortEx} fails later with EPERM, and a further default open returns the same context.
 * With `attr` the device must not be open yet: EBUSY. On hardware a process has one default context at a time: a default
 * open of another device is EBUSY.
 *
 * @throws VerbsError ENODEV (no such device), EBUSY, EINVAL (a mask with ports that the device does not have),
 *   EOPNOTSUPP (a device of another vendor)
 * @example
 * using ctx = openDevice('hbl_0', { portsMask: 0b110 }); // ports 1 and 2
 */
export function openDevice(device?: string | DeviceInfo, attr?: OpenAttr): Context {
  const given = attr === undefined ? undefined : openAttr(attr, 'attr');
  const info = chooseVendorDevice(libraries, device);
  const { vendor: hbl, libibverbs } = libraries.for(info.library, OPEN);
  const hint = softHint(info.library);
  const made = checked(native.openDevice(hbl, libibverbs, info.name, given), OPEN, { detail: info.name, hint });
  const ctx = adoptContext(info, made.handle);
  if (made.device === info.name) return ctx;
  // libhbl has one default context for the process, and gives it for any device.
  ctx.close();
  throw new VerbsError(errno.EBUSY, OPEN, {
    detail: info.name,
    hint: `the library has answered with its default context, of ${made.device}: close that first, or give attr`,
  });
}

/**
 * `hbldv_query_device`: {@link DeviceCaps}, and the open ports.
 *
 * @throws TypeError for a value that is no Context; VerbsError EOPNOTSUPP for a context of another vendor's device
 * @example const hasPort2 = (queryDevice(ctx).portsMask & (1n << 2n)) !== 0n;
 */
export function queryDevice(ctx: Context): {
  /** {@link DeviceCaps}, or-ed. */
  caps: bigint;
  /** Bit n is port n; bit 0 is never set. */
  portsMask: bigint;
  /** The number of ports. */
  numPorts: number;
  /** The ports that leave the machine, as `portsMask`. Only the Gaudi SDK's library tells them. */
  extPortsMask?: bigint;
} {
  const syscall = 'hbldv_query_device';
  const { vendor: hbl, handle } = forContext(ctx, syscall);
  return checked(native.queryDevice(hbl, handle), syscall);
}

/** The remedy where a call failed for its port: EINVAL is what libhbl says of every wrong value. */
export function portHint(ctx: Context, portNum: number, result: unknown): string | undefined {
  if (result !== -errno.EINVAL) return undefined;
  const { portsMask } = queryDevice(ctx);
  const ports = Array.from({ length: 64 }, (_, n) => n).filter((n) => (portsMask >> BigInt(n)) & 1n);
  return ports.includes(portNum)
    ? undefined
    : `the context has no port ${portNum}; it has ${ports.join(', ') || 'none'}`;
}
