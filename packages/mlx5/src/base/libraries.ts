import { type Context, type LibraryKind, VerbsError } from '@verbs/core';
import { handleOf, VendorLibraries } from '@verbs/core/provider';
import { native, type NativeHandle, type NativeLibrary } from '../native/index.js';
import { hints } from './hints.js';
import { softModel } from './soft-model.js';

const EOPNOTSUPP = 95;

export const libraries: VendorLibraries<NativeLibrary> = new VendorLibraries<NativeLibrary>({
  kind: 'mlx5',
  system: 'libmlx5.so.1',
  install: 'install it (Debian, Ubuntu: apt-get install ibverbs-providers)',
  model: softModel.library,
  defaultDevice: 'mlx5_soft0,kind=mlx5',
  openSyscall: 'mlx5dv_open_device',
  hints,
  open: (name) => native.openLibrary(name),
  attachModel: (library, libibverbs) => native.attachModel(library, libibverbs),
  isSupported: (library, libibverbs, name) => native.isSupported(library, libibverbs, name),
});

/** Contexts that passed the check below, or were opened by a function of libmlx5. */
const known = new WeakSet<Context>();

export function trust(context: Context): Context {
  known.add(context);
  return context;
}

/** The libmlx5 of that kind; throws where there is none. */
export function libraryFor(kind: LibraryKind, syscall: string): NativeLibrary {
  return libraries.for(kind, syscall).vendor;
}

/**
 * An open context's own libmlx5 and its handle, for a call. Throws TypeError for anything else, and EOPNOTSUPP for a
 * context of another vendor: the library's functions take its word for it.
 */
export function forContext(context: unknown, syscall: string): { library: NativeLibrary; handle: NativeHandle } {
  const { vendor: library, handle } = libraries.forContext(context, syscall);
  if (!known.has(context as Context)) {
    if (!native.isMlx5(library, handle)) {
      const { name } = (context as Context).device;
      throw new VerbsError(EOPNOTSUPP, syscall, {
        detail: `on ${name}`,
        hint: 'this is no mlx5 device: see isSupported(device)',
      });
    }
    known.add(context as Context);
  }
  return { library, handle };
}

/** The same for an object of \@verbs/core that belongs to a context, or to a protection domain. */
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
