import type { Context, DeviceInfo, DeviceList } from '@verbs/core';
import {
  adoptContext,
  checked,
  chooseVendorDevice,
  isVendorDevice,
  listVendorDevices,
  softHint,
  validate,
} from '@verbs/core/provider';
import { libraries } from './libraries.js';
import { native } from './native.js';

const S32 = 0x7fffffff;

/** `struct hbldv_ucontext_attr`. */
export interface OpenAttr {
  /** The ports to open: bit n is port n, bit 0 is reserved. 0, the default, is all of them. */
  portsMask?: bigint | number;
  /** A descriptor of the core device, which stays the caller's. Default -1; the software model needs none. */
  coreFd?: number;
}

/**
 * `hbldv_is_supported`: whether the device is one of Habana's, or a model of one.
 *
 * @example listDevices().filter(isSupported)
 */
export function isSupported(device: DeviceInfo): boolean {
  return isVendorDevice(libraries, device);
}

/**
 * The supported devices of both libraries, hardware first. The software NIC has one, `hbl_0`, if its configuration has
 * no other. An empty list says why in its `reason`.
 */
export function listDevices(): DeviceList {
  return listVendorDevices(libraries);
}

/**
 * `hbldv_open_device`. Without a device: the first of {@link listDevices}. Without `attr` it is a default open: the
 * kernel sets all ports up by itself, so that {@link setPortEx} is refused later, and a further default open gives the
 * same context again. With `attr` the device is opened once: EBUSY if it is open.
 *
 * @throws VerbsError ENODEV (no such device), EBUSY, EINVAL (a mask with ports that the device does not have),
 *   EOPNOTSUPP (a device of another vendor)
 * @example
 * using ctx = openDevice('hbl_0', { portsMask: 0b110 }); // ports 1 and 2
 */
export function openDevice(device?: string | DeviceInfo, attr?: OpenAttr): Context {
  const given = attr === undefined ? undefined : nativeAttr(attr);
  const info = chooseVendorDevice(libraries, device);
  const { vendor: hbl, libibverbs } = libraries.for(info.library, 'hbldv_open_device');
  const handle = checked(native.openDevice(hbl, libibverbs, info.name, given), 'hbldv_open_device', {
    detail: info.name,
    hint: softHint(info.library),
  });
  return adoptContext(info, handle);
}

function nativeAttr(attr: OpenAttr): { portsMask: bigint; coreFd: number } {
  const given = validate.object(attr, 'attr', ['portsMask', 'coreFd']);
  const mask = BigInt(validate.u64(given['portsMask'] ?? 0, 'attr.portsMask'));
  if ((mask & 1n) !== 0n)
    throw validate.valueError('attr.portsMask', 'has bit 0 set: ports count from 1, bit n is port n');
  const coreFd = given['coreFd'] === undefined ? -1 : validate.integer(given['coreFd'], 'attr.coreFd', -1, S32);
  return { portsMask: mask, coreFd };
}

/**
 * `hbldv_query_device`: {@link DeviceCaps}, and the open ports.
 *
 * @throws TypeError for what is no Context; VerbsError EOPNOTSUPP for one of another vendor's device
 * @example const hasPort2 = (queryDevice(ctx).portsMask & (1n << 2n)) !== 0n;
 */
export function queryDevice(ctx: Context): {
  /** {@link DeviceCaps}, or-ed. */
  caps: bigint;
  /** Bit n is port n; bit 0 is never set. */
  portsMask: bigint;
} {
  const syscall = 'hbldv_query_device';
  const { vendor: hbl, handle } = libraries.forContext(ctx, syscall);
  return checked(native.queryDevice(hbl, handle), syscall);
}
