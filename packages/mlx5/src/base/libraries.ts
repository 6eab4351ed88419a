import { type Context, type LibraryKind, VerbsError } from '@verbs/core';
import { errno, handleOf, VendorLibraries, type VendorLibraryReport } from '@verbs/core/provider';
import { native, type NativeHandle, type NativeLibrary } from '../native/index.js';
import { hints } from './hints.js';
import { softModel } from './soft-model.js';

/** Bytes of an action of mlx5dv_create_flow, but for a few releases. */
const PLAIN_ACTION = 16;

export const libraries: VendorLibraries<NativeLibrary> = new VendorLibraries<NativeLibrary>({
  kind: 'mlx5',
  system: 'libmlx5.so.1',
  install: 'install it (Debian, Ubuntu: apt-get install ibverbs-providers)',
  drives: { hardware: 'a ConnectX or a BlueField', devices: 'mlx5_' },
  describe: (library) =>
    native.flowActionSize(library) === PLAIN_ACTION
      ? ''
      : 'its mlx5dv_create_flow walks actions in steps of 24 bytes, and gets them so',
  model: softModel.library,
  defaultDevice: 'mlx5_soft0,kind=mlx5',
  openSyscall: 'mlx5dv_open_device',
  hints,
  open: (name) => native.openLibrary(name),
  attachModel: (library, libibverbs) => native.attachModel(library, libibverbs),
  isSupported: (library, libibverbs, name) => native.isSupported(library, libibverbs, name),
});

/**
 * The libmlx5 of this machine: its file, its release, and what follows; or why there is none. `verbs doctor` prints it.
 *
 * @example
 * const { release, text } = vendorLibrary();
 * console.log(release ?? 'no libmlx5', text);
 */
export function vendorLibrary(): VendorLibraryReport {
  return libraries.report();
}

/** Contexts that a function of libmlx5 opened, or that passed the check below. */
const known = new WeakSet<Context>();

/** Exempts a context of libmlx5 from the check of `forContext`. */
export function trust(context: Context): Context {
  known.add(context);
  return context;
}

/** The libmlx5 of that kind; throws where there is none. */
export function libraryFor(kind: LibraryKind, syscall: string): NativeLibrary {
  return libraries.for(kind, syscall).vendor;
}

/**
 * An open context's own libmlx5 and its handle, for a call. Throws TypeError for other values, and EOPNOTSUPP for a context
 * of another vendor, which the library's functions do not detect.
 */
export function forContext(context: unknown, syscall: string): { library: NativeLibrary; handle: NativeHandle } {
  const { vendor: library, handle } = libraries.forContext(context, syscall);
  if (!known.has(context as Context)) {
    if (!native.isMlx5(library, handle)) {
      const { name } = (context as Context).device;
      throw new VerbsError(errno.EOPNOTSUPP, syscall, {
        detail: `on ${name}`,
        hint: 'this is no mlx5 device: see isSupported(device)',
      });
    }
    known.add(context as Context);
  }
  return { library, handle };
}

/** As `forContext`, for an object of \@verbs/core that belongs to a context or to a protection domain. */
export function forObject(
  object: unknown,
  kind: string,
  path: string,
  syscall: string,
): { library: NativeLibrary; handle: NativeHandle } {
  const handle = handleOf(object, kind, path, syscall);
  const { context, pd } = object as { context?: Context; pd?: { context: Context } };
  return { library: forContext(context ?? pd?.context, syscall).library, handle };
}
