import { join } from 'node:path';
import process from 'node:process';
import { type Context, VerbsError } from '@verbs/core';
import {
  errno,
  isVendorDevice,
  type NativeHandle,
  VendorLibraries,
  type VendorLibraryReport,
} from '@verbs/core/provider';
import { native, type NativeLibrary } from './native.js';
import { hints } from './hints.js';
import { softModel } from './soft-model.js';

const SYSTEM = 'libhbl.so.1';

/**
 * The folder that a program names comes first, as with the SDK's own programs. Then what the loader finds: the library of
 * rdma-core, and the SDK's, which has no number. Then the places of the SDK's installer.
 */
function places(): string[] {
  const { RDMA_CORE_LIB: named, RDMA_CORE_ROOT: root } = process.env;
  const inFolder = (folder: string | undefined, ...more: string[]) =>
    folder === undefined || folder === '' ? [] : [join(folder, ...more, 'libhbl.so')];
  return [
    ...inFolder(named),
    SYSTEM,
    'libhbl.so',
    ...inFolder(root, 'build/lib'),
    ...inFolder('/opt/habanalabs/rdma-core/src/build/lib'),
  ];
}

export const libraries: VendorLibraries<NativeLibrary> = new VendorLibraries<NativeLibrary>({
  kind: 'hbl',
  system: SYSTEM,
  places,
  // hlibv_open_device and so on: the SDK's devices are of its own build of libibverbs, which no system's knows.
  verbsPrefix: 'hl',
  install:
    "install the rdma-core of Habana's software, or set RDMA_CORE_LIB to the folder of the Gaudi SDK's libhbl.so",
  drives: { hardware: 'a Gaudi', devices: 'hbl_' },
  describe: (library, own) =>
    native.isSdk(library)
      ? `of the Gaudi SDK: with collectives and migration, ${own ? 'and with ordinary verbs of its own (hlibv_*)' : 'but without ordinary verbs of its own (hlibv_*)'}`
      : 'as submitted to rdma-core in 2024: without collectives and migration',
  model: softModel.library,
  defaultDevice: 'hbl_0,kind=hbl',
  openSyscall: 'hbldv_open_device',
  hints,
  open: (name) => native.openLibrary(name),
  attachModel: (library, libibverbs) => native.attachModel(library, libibverbs),
  isSupported: (library, libibverbs, name) => native.isSupported(library, libibverbs, name),
});

/** Contexts of devices that are libhbl's. */
const known = new WeakSet<Context>();

/**
 * An open context's own libhbl and its handle, for a call. Throws TypeError for other values, and EOPNOTSUPP, with the
 * reason, for a context of another device.
 */
export function forContext(ctx: unknown, syscall: string): { vendor: NativeLibrary; handle: NativeHandle } {
  const found = libraries.forContext(ctx, syscall);
  const context = ctx as Context;
  if (!known.has(context)) {
    if (!isVendorDevice(libraries, context.device)) {
      throw new VerbsError(errno.EOPNOTSUPP, syscall, {
        detail: `on ${context.device.name}`,
        hint: 'this is no Habana device: see isSupported(device)',
      });
    }
    known.add(context);
  }
  return found;
}

/**
 * The libhbl of this machine: which of the two there are, its file, and what follows; or why there is none. `verbs doctor`
 * prints it.
 *
 * @example
 * const { file, text } = vendorLibrary();
 * console.log(file ?? 'no libhbl', text);
 */
export function vendorLibrary(): VendorLibraryReport {
  return libraries.report();
}
