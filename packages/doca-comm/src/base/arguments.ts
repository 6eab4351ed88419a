import type { WaitOptions } from '@verbs/core';
import { signalOf, validate } from '@verbs/core/provider';
import type { Api } from './libraries.js';

const { object, typeError, valueError } = validate;

export function serviceName(name: unknown): string {
  if (typeof name !== 'string') throw typeError('name', 'a string', name);
  if (name === '' || name.includes('\0')) throw valueError('name', 'must not be empty and must not contain a NUL');
  return name;
}

/** What is wrong with a name that is too long. `maxLength` counts the terminating NUL. */
export function nameTooLong(name: string, maxLength: number): string | undefined {
  const length = Buffer.byteLength(name);
  return length < maxLength ? undefined : `the name has ${length} bytes; ${maxLength - 1} is the maximum`;
}

/** The API of `{ api }`. */
export function api(options: unknown): Api | undefined {
  if (options === undefined) return undefined;
  const { api: asked } = object(options, 'options', ['api']);
  if (asked === undefined || asked === 'comch' || asked === 'comm-channel') return asked;
  throw valueError('options.api', `must be 'comch' or 'comm-channel'`);
}

/** The signal of `{ signal }`, which is not aborted. */
export function liveSignalOf(options: WaitOptions | undefined): AbortSignal | undefined {
  const signal = signalOf(options);
  signal?.throwIfAborted();
  return signal;
}
