import { VendorLibraries } from '@verbs/core/provider';
import { native, type NativeLibrary } from './native.js';
import { hints } from './hints.js';
import { softModel } from './soft-model.js';

export const libraries: VendorLibraries<NativeLibrary> = new VendorLibraries<NativeLibrary>({
  kind: 'hbl',
  system: 'libhbl.so.1',
  install: "install the rdma-core of Habana's software",
  model: softModel.library,
  defaultDevice: 'hbl_0,kind=hbl',
  openSyscall: 'hbldv_open_device',
  hints,
  open: (name) => native.openLibrary(name),
  attachModel: (library, libibverbs) => native.attachModel(library, libibverbs),
  isSupported: (library, libibverbs, name) => native.isSupported(library, libibverbs, name),
});
