import { errno } from '../base/errno.js';
import { checked, VerbsError } from '../base/errors.js';
import { native } from '../base/native.js';
import { integer, object, typeError } from '../base/validate.js';
import { loadLibrary, softFailure } from '../library/libraries.js';
import { addModelDevices } from '../library/installed.js';
import type { DeviceInfo, LibraryKind } from '../types/device.js';
import { Context } from './context.js';
import { kernelHas, libraryKind, listDevices } from './device-info.js';

/** The options of {@link openDevice}. */
export interface OpenOptions {
  /** Only devices of this library. */
  library?: LibraryKind;
}

/**
 * `ibv_open_device`. Without a device: the first hardware device, or the software NIC if there is none.
 *
 * @param device a name or an entry of {@link listDevices}
 * @throws VerbsError ENODEV if there is no such device; its message has the reason. EADDRINUSE if the software NIC
 *   finds no free address
 * @example
 * using ctx = openDevice();
 * console.log(ctx.device.name);
 */
export function openDevice(device?: string | DeviceInfo, options: OpenOptions = {}): Context {
  const { library } = object(options, 'options', ['library']);
  const info = chosen(device, libraryKind(library, 'options.library'));
  const attempt = loadLibrary(info.library);
  if ('reason' in attempt) throw new VerbsError(errno.ENODEV, 'ibv_open_device', { hint: attempt.reason });
  const handle = checked(native.openDevice(attempt.handle, info.name), 'ibv_open_device', {
    detail: info.name,
    hint: info.library === 'soft' ? softFailure() : undefined,
  });
  return new Context(info, handle);
}

/**
 * `ibv_import_device`: a context of a device that is open already, by its `cmdFd` or a copy of that. The context has a
 * duplicate of the descriptor.
 *
 * @param device the device of the descriptor: an entry of {@link listDevices}, or its name
 * @throws VerbsError EBADF, EINVAL (no such descriptor), ENODEV (no such device), EOPNOTSUPP (of another process, with
 *   the software NIC)
 * @example using twin = importDevice(ctx.cmdFd, ctx.device);
 */
export function importDevice(fd: number, device: string | DeviceInfo): Context {
  integer(fd, 'fd', 0, 0x7fffffff);
  const info = chosen(device, undefined);
  const attempt = loadLibrary(info.library);
  if ('reason' in attempt) throw new VerbsError(errno.ENODEV, 'ibv_import_device', { hint: attempt.reason });
  const made = native.importDevice(attempt.handle, fd, info.name);
  const hint = made === -errno.ENXIO ? 'the descriptor is that of another device' : undefined;
  const handle = checked(made, 'ibv_import_device', { detail: `of ${info.name}`, hint });
  return new Context(info, handle);
}

/** Of a name that the kernel has and no library lists. */
const UNDRIVEN =
  "the kernel has it, but no libibverbs here lists it: install its provider, or open it by its vendor's package";

function chosen(device: unknown, library: LibraryKind | undefined): DeviceInfo {
  const list = listDevices(library === undefined ? {} : { library });
  // The libraries are listed in the order of preference.
  const [first] = list;
  if (device === undefined) {
    if (first !== undefined) return first;
    throw new VerbsError(errno.ENODEV, 'ibv_open_device', { hint: list.reason });
  }
  const [name, kind] = wanted(device);
  const among = (devices: readonly DeviceInfo[]) =>
    devices.find((info) => info.name === name && (kind === undefined || info.library === kind));
  const found = among(list);
  if (found !== undefined) return found;
  // The software NIC gets the device of an installed vendor package when that is asked for it.
  if (kind !== 'system' && library !== 'system' && addModelDevices(name)) {
    const added = among(listDevices(library === undefined ? {} : { library }));
    if (added !== undefined) return added;
  }
  const leftOut = list.leftOut?.find((each) => each.name === name);
  const others = list.length === 0 ? list.reason : `there are ${list.map((info) => info.name).join(', ')}`;
  const there = kernelHas(name) ? `${UNDRIVEN}; ${others ?? ''}` : others;
  if (leftOut !== undefined) {
    throw new VerbsError(errno.ENODEV, 'ibv_open_device', { detail: JSON.stringify(name), hint: leftOut.reason });
  }
  throw new VerbsError(errno.ENODEV, 'ibv_open_device', { detail: JSON.stringify(name), hint: there });
}

function wanted(device: unknown): [name: string, library: LibraryKind | undefined] {
  if (typeof device === 'string') return [device, undefined];
  if (typeof device === 'object' && device !== null) {
    const { name, library } = device as Partial<DeviceInfo>;
    if (typeof name === 'string' && (library === 'system' || library === 'soft')) return [name, library];
  }
  throw typeError('device', "a device's name or an entry of listDevices()", device);
}
