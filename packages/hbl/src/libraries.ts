import { join } from 'node:path';
import process from 'node:process';
import { VendorLibraries } from '@verbs/core/provider';
import { native, type NativeLibrary } from './native.js';
import { hints } from './hints.js';
import { softModel } from './soft-model.js';

/** The Gaudi SDK's own build of rdma-core: where its programs look, and where its installer puts it. */
function sdkPlaces(): string[] {
  const folders = [
    process.env['RDMA_CORE_LIB'],
    process.env['RDMA_CORE_ROOT'] && join(process.env['RDMA_CORE_ROOT'], 'build/lib'),
    '/opt/habanalabs/rdma-core/src/build/lib',
  ];
  return folders.flatMap((folder) => (folder === undefined || folder === '' ? [] : [join(folder, 'libhbl.so')]));
}

export const libraries: VendorLibraries<NativeLibrary> = new VendorLibraries<NativeLibrary>({
  kind: 'hbl',
  system: 'libhbl.so.1',
  places: sdkPlaces,
  install:
    "install the rdma-core of Habana's software, or set RDMA_CORE_LIB to the folder of the Gaudi SDK's libhbl.so",
  model: softModel.library,
  defaultDevice: 'hbl_0,kind=hbl',
  openSyscall: 'hbldv_open_device',
  hints,
  open: (name) => native.openLibrary(name),
  attachModel: (library, libibverbs) => native.attachModel(library, libibverbs),
  isSupported: (library, libibverbs, name) => native.isSupported(library, libibverbs, name),
});
