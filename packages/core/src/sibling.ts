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
export { nativeCqOptions } from './cq-options.js';
export { nativeQpAttr } from './qp-attr.js';
export { nativeQpInitAttr } from './qp-init-attr.js';
export { nativeWqAttr } from './receive-work-queue.js';
export { accessOf } from './registration.js';
export * as shown from './shown.js';
export { softFailure } from './libraries.js';
export { softHint, VendorLibraries } from './vendor-libraries.js';
export { chooseVendorDevice, isVendorDevice, listVendorDevices } from './vendor-devices.js';

import type { CompletionChannel } from './completion-channel.js';
import { CompletionQueue } from './completion-queue.js';
import { Context } from './context.js';
import type { DeviceInfo } from './device-info.js';
import { DeviceMemory } from './device-memory.js';
import type { QpType } from './enums.js';
import { type LibraryKind, loadLibrary } from './libraries.js';
import type { MemoryRegion } from './memory-region.js';
import { native, type NativeHandle, type NativeLibrary, type NativeQp, type NativeRegion } from './native.js';
import type { ProtectionDomain } from './protection-domain.js';
import type { QpInitAttr } from './qp-init-attr.js';
import { QueuePair } from './queue-pair.js';
import { type NativeWq, ReceiveWorkQueue, type WqInitAttr } from './receive-work-queue.js';
import { withoutBytes } from './registration.js';
import { kState } from './symbols.js';

/** The function table of verbs_core.h, for the set-up function of an addon. */
export const nativeApi: object = native.nativeApi;

/** The loaded libibverbs of that kind, for `library_symbol` and `adopt_context`; or why there is none. */
export function libibverbs(kind: LibraryKind):
  | {
      /** The loaded library. */
      handle: NativeLibrary;
    }
  | {
      /** Why there is none, and what would help. */
      reason: string;
    } {
  return loadLibrary(kind);
}

/** The context behind what `adopt_context` gave. */
export function adoptContext(device: DeviceInfo, handle: NativeHandle): Context {
  return new Context(device, handle);
}

/** The completion queue behind what `adopt_cq` or `create_cq` gave; `extended` for the latter. */
export function adoptCq(
  context: Context,
  channel: CompletionChannel | undefined,
  made: { handle: NativeHandle; id: number; cqe: number },
  extended?: { wcFlags: number; parentDomain?: ProtectionDomain | undefined },
): CompletionQueue {
  return new CompletionQueue(context, channel, made, extended);
}

/** The queue pair behind what `create_qp` gave. */
export function adoptQp<const T extends QpType>(
  pd: ProtectionDomain,
  attr: QpInitAttr<T>,
  made: NativeQp,
): QueuePair<T> {
  return new QueuePair({ context: pd.context, pd, attr, made });
}

/** A vendor's modify call brought the queue pair to this state. */
export function queuePairMoved(qp: QueuePair, state: number): void {
  qp[kState](state);
}

/** The receive work queue behind what `create_wq` gave. */
export function adoptWq(pd: ProtectionDomain, attr: WqInitAttr, made: NativeWq): ReceiveWorkQueue {
  return new ReceiveWorkQueue(pd, attr, made);
}

/** The device memory behind what `alloc_dm` gave. */
export function adoptDm(context: Context, made: { handle: NativeHandle; dmHandle: number }, length: number) {
  return new DeviceMemory(context, made, length, false);
}

/** The memory region behind what `adopt_mr` gave. */
export function adoptMr(pd: ProtectionDomain, region: NativeRegion, length: number, access: number): MemoryRegion {
  return withoutBytes(pd, region, length, access);
}
