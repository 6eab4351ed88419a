import { validate } from '@verbs/core/provider';
import type { Device, DeviceInfo, Representor } from './device.js';
import type { Api } from './libraries.js';

const { object, typeError, valueError } = validate;

export function bytes(value: unknown, path: string): Uint8Array {
  if (!(value instanceof Uint8Array)) throw typeError(path, 'a Uint8Array', value);
  return value;
}

export function serviceName(name: unknown): string {
  if (typeof name !== 'string') throw typeError('name', 'a string', name);
  if (name === '' || name.includes('\0')) throw valueError('name', 'must not be empty and must not contain a NUL');
  return name;
}

/** Not by `instanceof`: the device may be of another copy of this package. What is wrong in it, the addon finds. */
export function device(value: unknown, path = 'device'): Device {
  if (!has(value, ['handle', 'library'])) throw typeError(path, 'a Device', value);
  return value as unknown as Device;
}

export function representor(value: unknown, path: string): Representor {
  if (!has(value, ['handle', 'device'])) throw typeError(path, 'a Representor', value);
  device(value['device'], `${path}.device`);
  return value as unknown as Representor;
}

export function deviceInfo(value: unknown, path: string): DeviceInfo {
  if (!has(value, ['library', 'pciAddr', 'ibdevName'])) throw typeError(path, 'a name or one of listDevices()', value);
  const { library, pciAddr, ibdevName } = value;
  const known =
    (library === 'system' || library === 'soft') && [pciAddr, ibdevName].every((x) => typeof x === 'string');
  if (!known) throw typeError(path, 'a name or one of listDevices()', value);
  return value as unknown as DeviceInfo;
}

/** The API of `{ api }`. */
export function api(options: unknown): Api | undefined {
  if (options === undefined) return undefined;
  const { api: asked } = object(options, 'options', ['api']);
  if (asked === undefined || asked === 'comch' || asked === 'comm-channel') return asked;
  throw valueError('options.api', `must be 'comch' or 'comm-channel'`);
}

/** The signal of `{ signal }`, which is not aborted. */
export function signalOf(options: unknown): AbortSignal | undefined {
  if (options === undefined) return undefined;
  const { signal } = object(options, 'options', ['signal']);
  if (signal === undefined) return undefined;
  if (!(signal instanceof AbortSignal)) throw typeError('options.signal', 'an AbortSignal', signal);
  signal.throwIfAborted();
  return signal;
}

function has(value: unknown, names: string[]): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && names.every((name) => name in value);
}
