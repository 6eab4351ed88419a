import { inspect, type InspectOptions } from 'node:util';
import { members, type Members, softHint, validate } from '@verbs/core/provider';
import { api as apiArgument } from './arguments.js';
import { checked, DocaError, DocaStatus } from './errors.js';
import { type Api, apiOf, loadLibrary, type Library, type LibraryKind } from './libraries.js';
import { ComchCapability, native, Size, type DeviceHandle, type RepresentorHandle } from './native.js';

const kinds: readonly LibraryKind[] = ['system', 'soft'];

/** A device, as `listDevices()` describes it. */
export interface DeviceInfo {
  /** The libraries that list it. */
  library: LibraryKind;
  /** '0000:3b:00.0'. The software BlueField's devices are in the domain 5f5f, which no card has, unless configured. */
  pciAddr: string;
  /** 'mlx5_0'; empty if the library does not report it. */
  ibdevName: string;
  /** 'ens1f0np0'; empty if the library does not report it. */
  ifaceName: string;
  /** Whether it is a DPU's device: these have representors of the host's functions. */
  hasRepresentors: boolean;
}

/** A host's function as the DPU sees it, from `listRepresentors()`. */
export interface RepresentorInfo {
  /** The host's PCI address of the function. */
  pciAddr: string;
  /** The function's VUID, unique text; empty if the library does not report it. */
  vuid: string;
}

enum RepresentorFilterValue {
  /** `DOCA_DEVINFO_REP_FILTER_ALL`: all functions. */
  ALL = 0,
  /** `DOCA_DEVINFO_REP_FILTER_NET`: network functions. */
  NET = 1 << 1,
  /** `DOCA_DEVINFO_REP_FILTER_EMULATED`: functions that the DPU emulates. */
  EMULATED = 1 << 2,
}
/** The values of `doca_devinfo_rep_filter`. */
export const RepresentorFilter: Members<typeof RepresentorFilterValue> = members(RepresentorFilterValue);
/** A value of {@link RepresentorFilter}. A number that comes from C is one as well; another enumeration's value is not. */
export type RepresentorFilter = RepresentorFilterValue;

/**
 * The devices of DOCA's libraries, then the devices of the software BlueField. The software BlueField has a host's function
 * and a DPU, unless its configuration (`VERBS_SOFT`, or `configure()` of @verbs/soft) has others.
 *
 * @example
 * const dpu = listDevices().find((device) => device.hasRepresentors);
 */
export function listDevices(): DeviceInfo[] {
  return kinds.flatMap((kind) => {
    const attempt = loadLibrary(kind);
    if ('reason' in attempt) return [];
    const found = native.listDevices(attempt.handle);
    return typeof found === 'number' ? [] : found.map((info) => ({ library: kind, ...info }));
  });
}

/** Why there is no device of that kind; undefined if there is one. @throws TypeError for another kind */
export function unavailableReason(kind: LibraryKind): string | undefined {
  if (!kinds.includes(kind)) throw validate.valueError('kind', `must be 'system' or 'soft'`);
  const attempt = loadLibrary(kind);
  if ('reason' in attempt) return attempt.reason;
  const found = native.listDevices(attempt.handle);
  if (typeof found !== 'number' && found.length > 0) return undefined;
  return softHint(kind) ?? 'the library lists no device';
}

/** The limits of a device. */
export interface Capabilities {
  /** Bytes of a service's name, with the terminating NUL. */
  maxServiceNameLen: number;
  /** Bytes of a message. */
  maxMessageSize: number;
  /** Messages in flight to one peer. */
  maxSendQueueSize: number;
  /** Messages from one peer in the receive queue. */
  maxRecvQueueSize: number;
  /** Clients of one service; undefined if the device does not report it, as on a host. */
  maxConnections: number | undefined;
}

/** An open device (`doca_dev`). */
export class Device implements Disposable {
  /** @internal */
  readonly handle: DeviceHandle;
  /** @internal */
  readonly library: Library;
  /** Its entry of `listDevices()`. */
  readonly info: DeviceInfo;
  /** What its endpoints go over. */
  readonly api: Api;

  /** @internal Use `openDevice`. */
  constructor(info: DeviceInfo, library: Library, api: Api, handle: DeviceHandle) {
    this.info = info;
    this.library = library;
    this.api = api;
    this.handle = handle;
  }

  /**
   * `doca_comm_channel_get_max_*`, or Comch's `doca_comch_cap_get_max_*`: the limits of the device.
   *
   * @throws DocaError INVALID_VALUE for a closed device
   */
  capabilities(): Capabilities {
    return this.api === 'comch' ? this.#comchCapabilities() : this.#channelCapabilities();
  }

  #comchCapabilities(): Capabilities {
    const get = (which: number, name: string) =>
      checked(native.comchCapability(this.handle, which), `${this.library.comch?.prefix ?? ''}cap_get_max_${name}`);
    const clients = native.comchCapability(this.handle, ComchCapability.CLIENTS);
    const isServer = native.comchCapability(this.handle, ComchCapability.SERVER) === 0;
    return {
      maxServiceNameLen: get(ComchCapability.NAME_LEN, 'name_len'),
      maxMessageSize: get(ComchCapability.MSG_SIZE, 'msg_size'),
      maxSendQueueSize: get(ComchCapability.SEND_TASKS, 'send_tasks'),
      maxRecvQueueSize: get(ComchCapability.RECV_QUEUE_SIZE, 'recv_queue_size'),
      maxConnections: isServer && clients >= 0 ? clients : undefined,
    };
  }

  #channelCapabilities(): Capabilities {
    const get = (which: number, name: string) =>
      checked(native.capability(this.handle, which), `doca_comm_channel_get_${name}`);
    const connections = native.capability(this.handle, Size.CONNECTIONS);
    if (connections !== -DocaStatus.NOT_SUPPORTED) {
      checked(connections, 'doca_comm_channel_get_service_max_num_connections');
    }
    return {
      maxServiceNameLen: checked(
        native.maxServiceNameLen(this.library.handle),
        'doca_comm_channel_get_max_service_name_len',
      ),
      maxMessageSize: get(Size.MESSAGE, 'max_message_size'),
      maxSendQueueSize: get(Size.SEND_QUEUE, 'max_send_queue_size'),
      maxRecvQueueSize: get(Size.RECV_QUEUE, 'max_recv_queue_size'),
      maxConnections: connections < 0 ? undefined : connections,
    };
  }

  /** `doca_dev_close`. @throws DocaError IN_USE while an endpoint or a representor uses it. */
  close(): void {
    checked(native.closeDevice(this.handle), 'doca_dev_close');
  }

  /** For `util.inspect` and `console.log`. */
  [inspect.custom](depth: number, options: InspectOptions = {}): string {
    return depth < 0 ? '[Device]' : `Device ${inspect(this.info, { ...options, depth })}`;
  }

  /** `using` closes it at the end of its block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** An open representor (`doca_dev_rep`). */
export class Representor implements Disposable {
  /** @internal */
  readonly handle: RepresentorHandle;
  /** The DPU's device. */
  readonly device: Device;
  /** Its entry of `listRepresentors()`. */
  readonly info: RepresentorInfo;

  /** @internal Use `openRepresentor`. */
  constructor(device: Device, info: RepresentorInfo, handle: RepresentorHandle) {
    this.device = device;
    this.info = info;
    this.handle = handle;
  }

  /** `doca_dev_rep_close`. @throws DocaError IN_USE while an endpoint uses it. */
  close(): void {
    checked(native.closeRepresentor(this.handle), 'doca_dev_rep_close');
  }

  /** For `util.inspect` and `console.log`. */
  [inspect.custom](depth: number, options: InspectOptions = {}): string {
    return depth < 0 ? '[Representor]' : `Representor ${inspect(this.info, { ...options, depth })}`;
  }

  /** `using` closes it at the end of its block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** The options of {@link openDevice}. */
export interface OpenDeviceOptions {
  /** Comch, or the Comm Channel. Without it the newer one of those that are here, or what `VERBS_DOCA_API` says. */
  api?: Api;
}

/**
 * `doca_dev_open`: one of `listDevices()`, or the device with that PCI address (with or without its domain) or name; the
 * first one if there is only the option.
 *
 * @example
 * const dpu = openDevice('doca_dpu0', { api: 'comch' });
 *
 * @throws DocaError NOT_FOUND (no such device), NOT_SUPPORTED (the API is not here), NOT_CONNECTED (it cannot be opened),
 * and others
 */
export function openDevice(device?: DeviceInfo | string | OpenDeviceOptions, options?: OpenDeviceOptions): Device {
  const onlyOptions =
    options === undefined && typeof device === 'object' && (device as object | null) !== null && !('pciAddr' in device);
  const asked = apiArgument(onlyOptions ? device : options);
  const info = device === undefined || onlyOptions ? firstDevice() : namedDevice(device);
  const attempt = loadLibrary(info.library);
  if ('reason' in attempt) throw new DocaError(DocaStatus.NOT_FOUND, 'doca_dev_open', attempt.reason);
  const { api } = apiOf(attempt, asked);
  const handle = native.openDevice(attempt.handle, info.pciAddr, info.ibdevName);
  const hint = typeof handle === 'number' ? softHint(info.library) : undefined;
  return new Device(info, attempt, api, checked<DeviceHandle>(handle, 'doca_dev_open', hint));
}

function namedDevice(device: unknown): DeviceInfo {
  return typeof device === 'string' ? findDevice(device) : deviceInfo(device, 'device');
}

function firstDevice(): DeviceInfo {
  const [first] = listDevices();
  if (first !== undefined) return first;
  throw new DocaError(DocaStatus.NOT_FOUND, 'doca_dev_open', unavailableReason('soft') ?? unavailableReason('system'));
}

function findDevice(name: string): DeviceInfo {
  const devices = listDevices();
  const wanted = samePci(name);
  const found = devices.find((device) => device.ibdevName === name || wanted(device));
  if (found !== undefined) return found;
  const names = devices.map((device) => `${device.pciAddr} (${device.ibdevName})`).join(', ');
  const others = names || `none (${unavailableReason('soft') ?? ''})`;
  // A card may have that address, with libraries that do not drive it: a model is opened by its own address or name only.
  const card = unavailableReason('system');
  const hardware = card === undefined ? '' : `; hardware: ${card}`;
  const hint = `there is no device ${name}; there are: ${others}${hardware}`;
  throw new DocaError(DocaStatus.NOT_FOUND, 'doca_dev_open', hint);
}

function samePci(name: string): (info: { pciAddr: string }) => boolean {
  const full = (name.length === 7 ? `0000:${name}` : name).toLowerCase();
  return (info) => info.pciAddr === full;
}

/** `doca_devinfo_rep_create_list`. @throws DocaError NOT_SUPPORTED on a host. */
export function listRepresentors(device: Device, filter: RepresentorFilter = RepresentorFilter.ALL): RepresentorInfo[] {
  const found = native.listRepresentors(deviceOf(device).handle, validate.integer(filter, 'filter', 0, 0xff));
  const hint =
    found === -DocaStatus.NOT_SUPPORTED
      ? 'only a DPU has representors: services and servers run there, and a program on the host connects as a client'
      : undefined;
  return checked<RepresentorInfo[]>(found, 'doca_devinfo_rep_create_list', hint);
}

/** `doca_dev_rep_open`: one of `listRepresentors()`, or the one with that PCI address of the host. */
export function openRepresentor(device: Device, representor: RepresentorInfo | string): Representor {
  const known = listRepresentors(device);
  const wanted: unknown =
    typeof representor === 'object' ? (representor as Partial<RepresentorInfo> | null)?.pciAddr : representor;
  if (typeof wanted !== 'string')
    throw validate.typeError('representor', 'a PCI address or one of listRepresentors()', representor);
  const info = known.find(samePci(wanted));
  if (info === undefined) {
    const names = known.map((other) => other.pciAddr).join(', ');
    const hint = `there is no representor ${wanted}; there are: ${names || 'none'}`;
    throw new DocaError(DocaStatus.NOT_FOUND, 'doca_dev_rep_open', hint);
  }
  const handle = native.openRepresentor(device.handle, RepresentorFilter.ALL, info.pciAddr);
  return new Representor(device, info, checked<RepresentorHandle>(handle, 'doca_dev_rep_open'));
}

/** Not by `instanceof`: the device may be of another copy of this package. What is wrong in it, the addon finds. */
export function deviceOf(value: unknown, path = 'device'): Device {
  if (!has(value, ['handle', 'library'])) throw validate.typeError(path, 'a Device', value);
  return value as unknown as Device;
}

export function representorOf(value: unknown, path: string): Representor {
  if (!has(value, ['handle', 'device'])) throw validate.typeError(path, 'a Representor', value);
  deviceOf(value['device'], `${path}.device`);
  return value as unknown as Representor;
}

/** The entry of `listDevices()` that a program gives: not its own object, which it may change. */
function deviceInfo(value: unknown, path: string): DeviceInfo {
  if (!has(value, ['library', 'pciAddr', 'ibdevName']))
    throw validate.typeError(path, 'a name or one of listDevices()', value);
  const { library, pciAddr, ibdevName } = value;
  if (!(library === 'system' || library === 'soft') || typeof pciAddr !== 'string' || typeof ibdevName !== 'string')
    throw validate.typeError(path, 'a name or one of listDevices()', value);
  const isIt = (each: DeviceInfo) =>
    each.library === library && each.pciAddr === pciAddr && each.ibdevName === ibdevName;
  return listDevices().find(isIt) ?? { library, pciAddr, ibdevName, ifaceName: '', hasRepresentors: false };
}

function has(value: unknown, names: string[]): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && names.every((name) => name in value);
}
