import { loadProviderAddon, type OpenedLibrary } from '@verbs/core/provider';
import type { NativeDevice } from './device.js';
import type { NativeDevx } from './devx.js';
import type { NativeDr } from './dr.js';
import type { NativeFlow } from './flow.js';
import type { Libibverbs, NativeLibrary } from './handles.js';
import type { NativeQueues } from './queues.js';
import type { NativeResources } from './resources.js';

export type { Libibverbs, NativeHandle, NativeLibrary } from './handles.js';

/**
 * The addon: one function for each function of libmlx5. Where a number stands beside a result, a negative one is the
 * errno of the failed call.
 */
export interface Native extends NativeDevice, NativeFlow, NativeDevx, NativeDr, NativeQueues, NativeResources {
  setUp(coreApi: object): number;
  openLibrary(name: string): OpenedLibrary<NativeLibrary>;
  attachModel(library: NativeLibrary, libibverbs: Libibverbs): number;
  /** The release of rdma-core that has the function ('' if not known), if the library lacks it. */
  missing(library: NativeLibrary, name: string): string | undefined;
  flowActionSize(library: NativeLibrary): number;
}

export const native: Native = loadProviderAddon({
  name: '@verbs/mlx5',
  file: 'native/binding/build/Release/verbs_mlx5.node',
  from: import.meta.url,
}) as Native;
