import type { LibraryKind } from '@verbs/core';
import { VendorLibraries } from '@verbs/core/provider';
import { type Libibverbs, native, type NativeHandle, type NativeLibrary } from './native.js';
import { softModel } from './soft-model.js';

export const libraries: VendorLibraries<NativeLibrary> = new VendorLibraries<NativeLibrary>({
  kind: 'hbl',
  system: 'libhbl.so.1',
  install: "install the rdma-core of Habana's software",
  model: softModel.library,
  defaultDevice: 'hbl_0,kind=hbl',
  openSyscall: 'hbldv_open_device',
  open: (name) => native.openLibrary(name),
  attachModel: (library, libibverbs) => native.attachModel(library, libibverbs),
  isSupported: (library, libibverbs, name) => native.isSupported(library, libibverbs, name),
});

/** The libraries of that kind; throws where there are none. */
export function librariesFor(kind: LibraryKind, syscall: string): { hbl: NativeLibrary; libibverbs: Libibverbs } {
  const { vendor: hbl, libibverbs } = libraries.for(kind, syscall);
  return { hbl, libibverbs };
}

/** An open context's own libhbl and its handle, for a call. Throws TypeError for anything else. */
export function forContext(context: unknown, syscall: string): { hbl: NativeLibrary; handle: NativeHandle } {
  const { vendor: hbl, handle } = libraries.forContext(context, syscall);
  return { hbl, handle };
}
