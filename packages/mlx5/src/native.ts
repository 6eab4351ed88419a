import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { nativeApi } from '@verbs/core/provider';
import type { NativeDevice } from './native/device.js';
import type { NativeDevx } from './native/devx.js';
import type { NativeDr } from './native/dr.js';
import type { NativeFlow } from './native/flow.js';
import type { Libibverbs, NativeLibrary } from './native/handles.js';
import type { NativeQueues } from './native/queues.js';
import type { NativeResources } from './native/resources.js';

export type { Libibverbs, NativeHandle, NativeLibrary } from './native/handles.js';

/**
 * The addon: one function for each function of libmlx5. Where a number stands beside a result, a negative one is the
 * errno of the failed call.
 */
export interface Native extends NativeDevice, NativeFlow, NativeDevx, NativeDr, NativeQueues, NativeResources {
  setUp(coreApi: object): number;
  openLibrary(name: string): { handle: NativeLibrary; reason?: never } | { handle?: never; reason: string };
  attachModel(library: NativeLibrary, libibverbs: Libibverbs): number;
  /** The release of rdma-core that has the function ('' if not known), if the library lacks it. */
  missing(library: NativeLibrary, name: string): string | undefined;
}

/** Where node-gyp puts the addon, seen from dist/ and from src/ alike. */
const ADDON = '../native/binding/build/Release/verbs_mlx5.node';

function load(): Native {
  try {
    const addon = createRequire(import.meta.url)(ADDON) as Native;
    addon.setUp(nativeApi);
    return addon;
  } catch (cause) {
    const path = fileURLToPath(new URL(ADDON, import.meta.url));
    throw new Error(
      `the native part of @verbs/mlx5 does not load from ${path}: build it with "npm run build:native" in the ` +
        `package's folder (needs g++, make, python3 and the package libibverbs-dev)`,
      { cause },
    );
  }
}

export const native: Native = load();
