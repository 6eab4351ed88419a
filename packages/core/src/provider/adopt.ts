import type { NativeHandle, NativeLibrary, NativeQp, NativeRegion } from '../base/native.js';
import { kKnownState, kState } from '../base/symbols.js';
import type { CompletionChannel } from '../completion/completion-channel.js';
import { CompletionQueue } from '../completion/completion-queue.js';
import { Context } from '../device/context.js';
import type { ProtectionDomain } from '../device/protection-domain.js';
import type { QpType } from '../enums/index.js';
import { loadLibrary } from '../library/libraries.js';
import type { Resource } from '../lifetime/resource.js';
import { DeviceMemory } from '../memory/device-memory.js';
import type { MemoryRegion } from '../memory/memory-region.js';
import { withoutBytes } from '../memory/registration.js';
import type { QpInitAttr } from '../qp/qp-init-attr.js';
import { QueuePair } from '../qp/queue-pair.js';
import { type NativeWq, ReceiveWorkQueue, type WqInitAttr } from '../qp/receive-work-queue.js';
import type { DeviceInfo, LibraryKind } from '../types/device.js';

/** The loaded libibverbs of that kind, for `library_symbol` and `adopt_context`; or why there is none. */
export function libibverbs(kind: LibraryKind):
  | {
      /** The loaded library. */
      handle: NativeLibrary;
    }
  | {
      /** Why there is none, and the remedy. */
      reason: string;
    } {
  return loadLibrary(kind);
}

/** A Context over the native object that `adopt_context` or `borrow_context` made. */
export function adoptContext(device: DeviceInfo, handle: NativeHandle): Context {
  return new Context(device, handle);
}

/** A CompletionQueue over the native object that `adopt_cq` or `create_cq` made; `extended` for the latter. */
export function adoptCq(
  context: Context,
  channel: CompletionChannel | undefined,
  made: { handle: NativeHandle; id: number; cqe: number },
  extended?: { wcFlags: number; parentDomain?: ProtectionDomain | undefined },
): CompletionQueue {
  return new CompletionQueue(context, channel, made, extended);
}

/**
 * A QueuePair over the native object that `create_qp` or `create_qp_by` made; `parent` is the parent that the latter was
 * given.
 */
export function adoptQp<const T extends QpType>(
  pd: ProtectionDomain,
  attr: QpInitAttr<T>,
  made: NativeQp,
  parent?: Resource,
): QueuePair<T> {
  return new QueuePair({ context: pd.context, pd, attr, made, ...(parent && { parent }) });
}

/** The last known state of a queue pair: the device is not asked. QpState.UNKNOWN of one that another program made. */
export function knownQueuePairState(qp: QueuePair): number {
  return qp[kKnownState];
}

/** Records the state that a vendor's modify call brought the queue pair to. */
export function setQueuePairState(qp: QueuePair, state: number): void {
  qp[kState](state);
}

/** A ReceiveWorkQueue over the native object that `create_wq` made. */
export function adoptWq(pd: ProtectionDomain, attr: WqInitAttr, made: NativeWq): ReceiveWorkQueue {
  return new ReceiveWorkQueue(pd, attr, made);
}

/** A DeviceMemory over the native object that `alloc_dm` made. */
export function adoptDm(context: Context, made: { handle: NativeHandle; dmHandle: number }, length: number) {
  return new DeviceMemory(context, made, length, false);
}

/** A MemoryRegion over the native object that `adopt_mr` made. */
export function adoptMr(pd: ProtectionDomain, region: NativeRegion, length: number, access: number): MemoryRegion {
  return withoutBytes(pd, region, length, access);
}
