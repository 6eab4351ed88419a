/**
 * The provider kit, for packages that add a vendor's objects to those of `@verbs/core` (`@verbs/mlx5` and others). It
 * is not for programs, and it changes with the packages that use it.
 *
 * The addon of such a package includes `native/include/verbs_core.h`, gets the function table at set-up, and takes objects
 * of this package by `handleOf`. Its classes extend `Resource` over an External of their own.
 *
 * @packageDocumentation
 */
export { loadProviderAddon } from './addon.js';
export * from './adopt.js';
export { type ModelPlace, type SoftModel, softModelAt } from './soft-model.js';
export { chooseVendorDevice, isVendorDevice, listVendorDevices } from './vendor-devices.js';
export {
  type Libraries,
  type Missing,
  softHint,
  VendorLibraries,
  type VendorLibrary,
  type VendorLibraryReport,
  type OpenedLibrary,
} from './vendor-libraries.js';
export { type AddonPlace, loadAddon } from '../base/addon.js';
export { onAbort, unlessAborted } from '../base/abort.js';
export { errno } from '../base/errno.js';
export { uncaught } from '../base/handled.js';
export { gidText } from '../base/gid.js';
export { type EventSource, FdEvents } from '../base/fd-events.js';
export { WakeList } from '../base/wake-list.js';
export * from '../base/fields.js';
export { members, type Members } from '../enums/members.js';
export { check, checked, closedError, type VerbsErrorOptions } from '../base/errors.js';
export { hintFor, type Hints } from '../base/hints.js';
export * as inspection from '../base/inspection.js';
export {
  native as coreNative,
  type Native as CoreNative,
  type NativeHandle,
  type NativeLibrary,
  type NativeQp,
  type NativeQpAttr,
  type NativeRegion,
} from '../base/native.js';
export * as validate from '../base/validate.js';
export { signalOf } from '../base/wait-options.js';
export { DEFAULT_SPIN, nativeCqOptions } from '../completion/cq-options.js';
export { Spin } from '../completion/spin.js';
export { softFailure, softModule, type SoftModule } from '../library/libraries.js';
export { handle, handleOf, kindOf, Resource } from '../lifetime/resource.js';
export { watchForLeak } from '../lifetime/leak-warning.js';
export { accessOf } from '../memory/registration.js';
export { nativeQpAttr, publicQpAttr } from '../qp/qp-attr.js';
export { nativeQpInitAttr } from '../qp/qp-init-attr.js';
export { nativeWqAttr, type NativeWq } from '../qp/receive-work-queue.js';
export { modifyReason } from '../reasons/modify-reason.js';
