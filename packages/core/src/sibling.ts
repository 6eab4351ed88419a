/**
 * For packages that add objects to these (`@verbs/mlx5` and others), not for programs.
 *
 * Their addons include `native/include/verbs_core.h`, get `nativeApi` at set-up, and take objects of this package by
 * `handleOf`. Their classes extend `Resource` over an External of their own.
 */
export { native as coreNative } from './native.js';
export { handleOf, Resource } from './resource.js';
export { check, checked, closedError } from './errors.js';
export * as validate from './validate.js';

import { native } from './native.js';

/** The function table of verbs_core.h, for the set-up function of an addon. */
export const nativeApi: object = native.nativeApi;
