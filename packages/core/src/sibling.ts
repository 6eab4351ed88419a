/**
 * For packages that add objects to these (`@verbs/mlx5` and others), not for programs.
 *
 * Their addons include `native/include/verbs_core.h`, get `nativeApi` at set-up, and take objects of this package by
 * `handleOf`. Their classes extend `Resource` over an External of their own.
 */
export { native as coreNative } from './native.js';
export { handleOf, kindOf, Resource } from './resource.js';
export { check, checked, closedError } from './errors.js';
export * as validate from './validate.js';
export { nativeQpAttr } from './qp-attr.js';
export { softFailure } from './libraries.js';
export { softHint, VendorLibraries } from './vendor-libraries.js';
export { chooseVendorDevice, isVendorDevice, listVendorDevices } from './vendor-devices.js';

import type { CompletionChannel } from './completion-channel.js';
import { CompletionQueue } from './completion-queue.js';
import { Context } from './context.js';
import type { DeviceInfo } from './device-info.js';
import { type LibraryKind, loadLibrary } from './libraries.js';
import { native, type NativeHandle, type NativeLibrary } from './native.js';

/** The function table of verbs_core.h, for the set-up function of an addon. */
export const nativeApi: object = native.nativeApi;

/** The loaded libibverbs of that kind, for `library_symbol` and `adopt_context`; or why there is none. */
export function libibverbs(kind: LibraryKind): { handle: NativeLibrary } | { reason: string } {
  return loadLibrary(kind);
}

/** The context behind what `adopt_context` gave. */
export function adoptContext(device: DeviceInfo, handle: NativeHandle): Context {
  return new Context(device, handle);
}

/** The completion queue behind what `adopt_cq` gave. */
export function adoptCq(
  context: Context,
  channel: CompletionChannel | undefined,
  made: { handle: NativeHandle; id: number; cqe: number },
): CompletionQueue {
  return new CompletionQueue(context, channel, made);
}
