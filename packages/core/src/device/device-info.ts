import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';
import { native } from '../base/native.js';
import { object, typeError } from '../base/validate.js';
import type { LeftOutDevice } from '../library/left-out.js';
import { loadLibrary, probeLibraries } from '../library/libraries.js';
import type { DeviceInfo, LibraryKind } from '../types/device.js';

/** The devices, and if there are none, why. */
export type DeviceList = DeviceInfo[] & {
  /** Of an empty list: the libraries that were searched for, and the remedy. */
  readonly reason?: string;
  /** The devices of the software NIC's configuration that are not in the list, each with its reason. */
  readonly leftOut?: readonly LeftOutDevice[];
};

/**
 * `ibv_get_device_list` and `ibv_free_device_list` of both libraries, hardware first, with `ibv_get_device_name`,
 * `ibv_get_device_guid` and `ibv_get_device_index` of each device. Each device is listed once, also when the software
 * NIC stands in for the system's library. Listing opens nothing and never throws for missing hardware.
 *
 * @example
 * const devices = listDevices();
 * if (devices.length === 0) console.log(devices.reason);
 */
export function listDevices(options: { library?: LibraryKind } = {}): DeviceList {
  const { library } = object(options, 'options', ['library']);
  const wanted = libraryKind(library, 'options.library');
  const reports = probeLibraries().filter(({ kind }) => wanted === undefined || kind === wanted);
  const list: DeviceList = reports.flatMap(({ devices }) => devices);
  if (list.length === 0) {
    const reason = reports.map(({ kind, reason }) => `${kind}: ${reason ?? 'no device'}`).join('; ');
    Object.defineProperty(list, 'reason', { value: reason });
  }
  const leftOut = reports.flatMap((report) => report.leftOut ?? []);
  // Not enumerable, as the reason: the list prints and compares like a plain array.
  if (leftOut.length > 0) Object.defineProperty(list, 'leftOut', { value: leftOut });
  return list;
}

/** The check of a library's kind; undefined is any. */
export function libraryKind(value: unknown, path: string): LibraryKind | undefined {
  if (value === undefined || value === 'system' || value === 'soft') return value;
  throw typeError(path, "'system' or 'soft'", value);
}

/** Whether the kernel has an RDMA device of that name, whatever library drives it. */
export function kernelHas(name: string): boolean {
  return /^[\w.-]+$/.test(name) && existsSync(join('/sys/class/infiniband', name));
}

/**
 * `ibv_read_sysfs_file` below the device's folder, without the trailing newline; undefined if there is no such file.
 *
 * @throws TypeError for a wrong device or name; VerbsError ENOSYS if the device's library is gone
 * @example for (const device of listDevices()) console.log(device.name, readSysfsFile(device, 'board_id'));
 */
export function readSysfsFile(device: DeviceInfo, file: string): string | undefined {
  if (typeof device !== 'object' || (device as DeviceInfo | null) === null) {
    throw typeError('device', 'an entry of listDevices()', device);
  }
  const { library, ibdevPath } = device;
  if (typeof ibdevPath !== 'string') throw typeError('device.ibdevPath', 'a string', ibdevPath);
  if (typeof file !== 'string') throw typeError('file', "a file's name", file);
  const attempt = loadLibrary(library);
  if ('reason' in attempt) throw new VerbsError(errno.ENOSYS, 'ibv_read_sysfs_file', { hint: attempt.reason });
  const text = native.readSysfsFile(attempt.handle, ibdevPath, file);
  return typeof text === 'number' ? undefined : text;
}
