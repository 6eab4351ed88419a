import { formatGuid } from '../base/gid.js';
import { type Forms, named, readable } from '../base/inspection.js';
import { native, type NativeDevice, type NativeLibrary } from '../base/native.js';
import { NodeType, TransportType } from '../enums/index.js';
import type { DeviceInfo, LibraryKind } from '../types/device.js';
import { loadMissingModels, requireInstalled } from './installed.js';
import { type LeftOutDevice, leftOutDevices } from './left-out.js';
import { devicesListed, libraryTried } from './library-loads.js';

/** The result of the search for one of the two libraries. */
export interface LibraryReport {
  /** Which of the two. */
  kind: LibraryKind;
  /** The file or SONAME, if one was found. */
  path?: string;
  /** Its release by the name of its file, 'rdma-core 44.0', if that tells it. */
  release?: string;
  /** Its devices; empty with a `reason`. */
  devices: DeviceInfo[];
  /** Why it has no device, and the remedy. */
  reason?: string;
  /** Devices of the software NIC's configuration that are missing in `devices`; not there if there are none. */
  leftOut?: LeftOutDevice[];
}

interface Loaded {
  path: string;
  handle: NativeLibrary;
  release?: string;
}
type Attempt = Loaded | { path?: string; reason: string };

/** The part of @verbs/soft that is used here. The package is an optional peer, found at run time. */
export interface SoftModule {
  /** The path of its libibverbs. */
  library: string;
  /** Its report of its last failure. */
  lastError?: () => string | undefined;
}

const SYSTEM = 'libibverbs.so.1';

/**
 * Both libraries with their devices. Nothing is opened by it.
 *
 * @example for (const { kind, reason } of probeLibraries()) console.log(kind, reason ?? 'has devices');
 */
export function probeLibraries(): LibraryReport[] {
  return [report('system', loadLibrary('system')), report('soft', loadLibrary('soft'))];
}

/** The library of that kind, or the reason why there is none. */
export function loadLibrary(kind: LibraryKind): Attempt {
  const attempt = kind === 'system' ? systemLibrary() : softLibrary();
  libraryTried('libibverbs', kind, attempt);
  return attempt;
}

/** Any library that loads, for functions that are the same in all of them. */
export function anyLibrary(): NativeLibrary | undefined {
  for (const kind of ['soft', 'system'] as const) {
    const attempt = loadLibrary(kind);
    if ('handle' in attempt) return attempt.handle;
  }
  return undefined;
}

/** The software NIC's own words about its last failure, if it has some. */
export function softFailure(): string | undefined {
  const found = softModule();
  if ('reason' in found) return undefined;
  try {
    const text = found.lastError?.();
    return text === '' ? undefined : text;
  } catch {
    // Its control addon is not there. That is no reason to hide the failure that is asked about.
    return undefined;
  }
}

function systemLibrary(): Attempt {
  const opened = native.openLibrary(SYSTEM);
  if (opened.handle === undefined) {
    return {
      reason: `${opened.reason}: install libibverbs (Debian, Ubuntu: apt-get install libibverbs1 ibverbs-providers)`,
    };
  }
  if (opened.soft) {
    return {
      path: SYSTEM,
      reason: `the ${SYSTEM} found here is the software NIC (see LD_LIBRARY_PATH), not the system's`,
    };
  }
  return { path: SYSTEM, handle: opened.handle, ...releaseOf(opened.file) };
}

/** The release of a library of rdma-core, whose files are named so: libmlx5.so.1.24.44.0. */
export function releaseOf(file: string): { release?: string } {
  const release = /\.so\.\d+\.\d+\.(\d+(?:\.\d+)*)$/.exec(file)?.[1];
  return release === undefined ? {} : { release: `rdma-core ${release}` };
}

function softLibrary(): Attempt {
  const found = softModule();
  if ('library' in found) {
    const opened = native.openLibrary(found.library);
    if (opened.handle !== undefined) return { path: found.library, handle: opened.handle };
    return { path: found.library, reason: `the software NIC does not load: ${opened.reason}` };
  }
  // Without the package there may still be its drop-in library on LD_LIBRARY_PATH.
  const opened = native.openLibrary(SYSTEM);
  if (opened.handle !== undefined && opened.soft) return { path: SYSTEM, handle: opened.handle };
  return found;
}

/** The module of @verbs/soft, or the reason why there is none. */
export function softModule():
  | SoftModule
  | {
      /** Why there is none, and a remedy. */
      reason: string;
    } {
  try {
    const found = requireInstalled('@verbs/soft') as Partial<SoftModule> | undefined;
    if (typeof found?.library === 'string') return found as SoftModule;
    if (found !== undefined) return { reason: '@verbs/soft is not built, or another package of that name' };
  } catch (error) {
    return { reason: `@verbs/soft does not load: ${error instanceof Error ? error.message : String(error)}` };
  }
  return { reason: 'the software NIC is not installed: npm install @verbs/soft' };
}

/** The devices that a library lists. */
export function devicesIn(kind: LibraryKind, library: NativeLibrary): DeviceInfo[] {
  return listOf(kind, library).devices;
}

function report(kind: LibraryKind, attempt: Attempt): LibraryReport {
  const path = attempt.path === undefined ? {} : { path: attempt.path };
  if ('reason' in attempt) return { kind, ...path, devices: [], reason: attempt.reason };
  const found = listOf(kind, attempt.handle);
  devicesListed(kind, found);
  const release = attempt.release === undefined ? {} : { release: attempt.release };
  return { kind, ...path, ...release, ...found };
}

function listOf(kind: LibraryKind, library: NativeLibrary): Pick<LibraryReport, 'devices' | 'reason' | 'leftOut'> {
  let list = native.getDeviceList(library);
  // The NIC leaves a device out whose model nobody has loaded yet, and says so.
  if (kind === 'soft' && loadMissingModels(softFailure())) list = native.getDeviceList(library);
  if (typeof list === 'number') return { devices: [], reason: listFailure(kind, -list) };
  const devices = list.map((device) => describe(kind, device));
  const leftOut = kind === 'soft' ? leftOutDevices(softFailure()) : [];
  return {
    devices,
    ...(devices.length === 0 && { reason: emptyReason(kind) }),
    ...(leftOut.length > 0 && { leftOut }),
  };
}

function listFailure(kind: LibraryKind, errno: number): string {
  const code = native.errnoName(errno) ?? String(errno);
  if (kind === 'soft') return softFailure() ?? `the software NIC has no device list: ${code}`;
  if (code === 'ENOSYS') {
    return 'this kernel has no RDMA (ENOSYS): load the modules ib_uverbs and the one of your adapter, for instance mlx5_ib';
  }
  return `ibv_get_device_list failed: ${code}, ${native.errnoText(errno)}`;
}

function emptyReason(kind: LibraryKind): string {
  if (kind === 'soft') return softFailure() ?? 'the software NIC is configured without a device (see VERBS_SOFT)';
  return 'no RDMA adapter is there: /sys/class/infiniband is empty, or the package with its provider is not installed';
}

const forms: Forms<DeviceInfo> = {
  guid: formatGuid,
  nodeType: (value) => named(NodeType, value),
  transportType: (value) => named(TransportType, value),
};

function describe(library: LibraryKind, device: NativeDevice): DeviceInfo {
  return readable<DeviceInfo>({ ...device, library }, forms);
}
