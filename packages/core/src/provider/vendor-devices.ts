import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';
import { typeError } from '../base/validate.js';
import { type DeviceList, listDevices } from '../device/device-info.js';
import type { DeviceInfo } from '../types/device.js';
import { softHint, type VendorLibraries } from './vendor-libraries.js';

/** Whether the device is one of the vendor's, or a model of such a device. */
export function isVendorDevice<V extends object>(libraries: VendorLibraries<V>, device: DeviceInfo): boolean {
  if (typeof device !== 'object' || (device as DeviceInfo | null) === null || typeof device.name !== 'string') {
    throw typeError('device', 'an entry of listDevices()', device);
  }
  return libraries.isSupported(device.library, device.name);
}

/**
 * The vendor's devices of both libraries, hardware first. The software NIC gets one if its configuration has none. An
 * empty list says why in its `reason`.
 */
export function listVendorDevices<V extends object>(libraries: VendorLibraries<V>): DeviceList {
  const withheld = libraries.ensureSoftDevice();
  const all = listDevices();
  const own = libraries.ownDevices();
  const elsewhere = own === undefined ? all : all.filter(({ library }) => library === 'soft');
  const list: DeviceInfo[] & { reason?: string } = [...(own ?? []), ...elsewhere].filter((device) =>
    isVendorDevice(libraries, device),
  );
  if (list.length === 0) Object.defineProperty(list, 'reason', { value: emptyReason(libraries, all, withheld) });
  return list;
}

function emptyReason<V extends object>(
  libraries: VendorLibraries<V>,
  all: DeviceList,
  withheld: string | undefined,
): string {
  const reasons = (['system', 'soft'] as const).map((kind) => {
    const found = libraries.find(kind);
    if ('reason' in found) return `${kind}: ${found.reason}`;
    const words = kind === 'soft' ? (withheld ?? softHint(kind)) : undefined;
    return `${kind}: ${words ?? all.reason ?? `no ${libraries.about.kind} device`}`;
  });
  return reasons.join('; ');
}

/**
 * The device that a vendor package's openDevice() opens: the one that `device` names, or the first of the vendor's.
 *
 * @throws VerbsError ENODEV
 */
export function chooseVendorDevice<V extends object>(
  libraries: VendorLibraries<V>,
  device: string | DeviceInfo | undefined,
): DeviceInfo {
  const syscall = libraries.about.openSyscall;
  const list = listVendorDevices(libraries);
  const [first] = list;
  if (device === undefined) {
    if (first !== undefined) return first;
    throw new VerbsError(errno.ENODEV, syscall, { hint: list.reason });
  }
  if (typeof device !== 'string' && typeof (device as Partial<DeviceInfo> | null)?.name !== 'string')
    throw typeError('device', 'a name, or an entry of listDevices()', device);
  const name = typeof device === 'string' ? device : device.name;
  const all = typeof device === 'string' ? list : [...list, ...listDevices()];
  const found = all.find(
    (info) => info.name === name && (typeof device === 'string' || info.library === device.library),
  );
  if (found !== undefined) return found;
  const there = list.length === 0 ? list.reason : `there are ${list.map((info) => info.name).join(', ')}`;
  throw new VerbsError(errno.ENODEV, syscall, { detail: JSON.stringify(name), hint: there });
}
