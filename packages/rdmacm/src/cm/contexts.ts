import { type Context, type LibraryKind, listDevices, VerbsError } from '@verbs/core';
import { adoptContext, checked, errno, type NativeHandle } from '@verbs/core/provider';
import { kindOfOptions, libraries } from '../base/libraries.js';
import { native, type NativeContext } from '../base/native.js';

/** The objects of the contexts, by kind and number. The C library has one context of each device. */
const known = new Map<string, WeakRef<Context>>();

function find(kind: LibraryKind, key: number): Context | undefined {
  const context = known.get(`${kind} ${key}`)?.deref();
  return context?.closed === false ? context : undefined;
}

function adopt(kind: LibraryKind, { key, device, handle }: NativeContext, syscall: string): Context {
  const info = listDevices({ library: kind }).find(({ name }) => name === device);
  if (info === undefined || handle === undefined) throw new VerbsError(errno.ENODEV, syscall, { detail: device });
  const context = adoptContext(info, handle);
  known.set(`${kind} ${key}`, new WeakRef(context));
  return context;
}

/** The context that an identifier is bound to. */
export function contextOf(kind: LibraryKind, id: NativeHandle): Context | undefined {
  const syscall = 'rdma_cm_id.verbs';
  const found = native.contextOf(id, undefined);
  if (found === undefined) return undefined;
  const context = find(kind, found.key);
  if (context !== undefined) return context;
  const made = native.contextOf(id, libraries.for(kind, syscall).libibverbs);
  return made && adopt(kind, made, syscall);
}

/**
 * `rdma_get_devices` and `rdma_free_devices`: the devices that the connection manager has open. Objects for several connections (a protection
 * domain, a shared receive queue) are made on these contexts. `close()` of such a context closes what was made on it; the
 * device itself stays open.
 *
 * @param options `library`: default as of {@link connect}
 * @throws VerbsError ENOSYS (no library), ENODEV (no device)
 * @example
 * const [context] = getDevices();
 * const shared = context?.allocPd();
 */
export function getDevices(options: { library?: LibraryKind } = {}): Context[] {
  const syscall = 'rdma_get_devices';
  const kind = kindOfOptions(options);
  const { vendor, libibverbs } = libraries.for(kind, syscall);
  const list = checked(native.getDevices(vendor, libibverbs), syscall);
  return list.map((each) => find(kind, each.key) ?? adopt(kind, each, syscall));
}
