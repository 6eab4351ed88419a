import { isDetached, validate } from '@verbs/core/provider';
import type { Api } from './libraries.js';

const { object, typeError, valueError } = validate;

export function bytes(value: unknown, path: string): Uint8Array {
  if (!(value instanceof Uint8Array)) throw typeError(path, 'a Uint8Array', value);
  if (isDetached(value)) throw valueError(path, 'is detached: its buffer was transferred');
  return value;
}

export function serviceName(name: unknown): string {
  if (typeof name !== 'string') throw typeError('name', 'a string', name);
  if (name === '' || name.includes('\0')) throw valueError('name', 'must not be empty and must not contain a NUL');
  return name;
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
