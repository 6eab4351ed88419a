import {
  type Context,
  type DeviceInfo,
  type DeviceList,
  listDevices as listAllDevices,
  sibling,
  VerbsError,
} from '@verbs/core';
import { ensureSoftDevice, findLibraries, forContext, isSupportedByName, librariesFor, softHint } from './libraries.js';
import { native } from './native.js';

const { validate, checked } = sibling;
const ENODEV = 19;
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
  if (typeof device !== 'object' || (device as DeviceInfo | null) === null || typeof device.name !== 'string') {
    throw validate.typeError('device', 'an entry of listDevices()', device);
  }
  return isSupportedByName(device.library, device.name);
}

/**
 * The supported devices of both libraries, hardware first. The software NIC has one, `hbl_0`, if its configuration has
 * no other. An empty list says why in its `reason`.
 */
export function listDevices(): DeviceList {
  ensureSoftDevice();
  const all = listAllDevices();
  const list: DeviceInfo[] & { reason?: string } = all.filter(isSupported);
  if (list.length === 0) Object.defineProperty(list, 'reason', { value: emptyReason(all) });
  return list;
}

function emptyReason(all: DeviceList): string {
  const reasons = (['system', 'soft'] as const).map((kind) => {
    const libraries = findLibraries(kind);
    return `${kind}: ${'reason' in libraries ? libraries.reason : (softHint(kind) ?? all.reason ?? 'no hbl device')}`;
  });
  return reasons.join('; ');
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
  const info = chosen(device);
  const { hbl, libibverbs } = librariesFor(info.library, 'hbldv_open_device');
  const handle = checked(native.openDevice(hbl, libibverbs, info.name, given), 'hbldv_open_device', {
    detail: info.name,
    hint: softHint(info.library),
  });
  return sibling.adoptContext(info, handle);
}

function nativeAttr(attr: OpenAttr): { portsMask: bigint; coreFd: number } {
  const given = validate.object(attr, 'attr', ['portsMask', 'coreFd']);
  const mask = BigInt(validate.u64(given['portsMask'] ?? 0, 'attr.portsMask'));
  if ((mask & 1n) !== 0n)
    throw validate.valueError('attr.portsMask', 'has bit 0 set: ports count from 1, bit n is port n');
  const coreFd = given['coreFd'] === undefined ? -1 : validate.integer(given['coreFd'], 'attr.coreFd', -1, S32);
  return { portsMask: mask, coreFd };
}

function chosen(device: string | DeviceInfo | undefined): DeviceInfo {
  const list = listDevices();
  const [first] = list;
  if (device === undefined) {
    if (first !== undefined) return first;
    throw new VerbsError(ENODEV, 'hbldv_open_device', { hint: list.reason });
  }
  const name = typeof device === 'string' ? device : device.name;
  const all = typeof device === 'string' ? list : [...list, ...listAllDevices()];
  const found = all.find(
    (info) => info.name === name && (typeof device === 'string' || info.library === device.library),
  );
  if (found !== undefined) return found;
  const there = list.length === 0 ? list.reason : `there are ${list.map((info) => info.name).join(', ')}`;
  throw new VerbsError(ENODEV, 'hbldv_open_device', { detail: JSON.stringify(name), hint: there });
}

/** `hbldv_query_device`: {@link DeviceCaps}, and the open ports (bit n is port n). */
export function queryDevice(ctx: Context): { caps: bigint; portsMask: bigint } {
  const syscall = 'hbldv_query_device';
  const { hbl, handle } = forContext(ctx, syscall);
  return checked(native.queryDevice(hbl, handle), syscall);
}
