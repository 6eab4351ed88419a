import { type LibraryKind, listDevices } from '@verbs/core';
import { validate, VendorLibraries } from '@verbs/core/provider';
import { hints } from './hints.js';
import { native, type NativeLibrary } from './native.js';
import { softModel } from './soft-model.js';

export const libraries: VendorLibraries<NativeLibrary> = new VendorLibraries<NativeLibrary>({
  kind: 'rdmacm',
  system: 'librdmacm.so.1',
  install: 'install librdmacm (Debian, Ubuntu: apt-get install librdmacm1)',
  model: softModel.library,
  // It works on the devices that are there.
  defaultDevice: '',
  openSyscall: 'rdma_create_event_channel',
  hints,
  open: (name) => native.openLibrary(name),
  attachModel: (library, libibverbs) => native.attachModel(library, libibverbs),
  isSupported: () => true,
});

/** The kind that a program means: the system's where it has devices, else the software NIC's. */
export function kindOf(value: unknown, path: string): LibraryKind {
  if (value === 'system' || value === 'soft') return value;
  if (value !== undefined) throw validate.typeError(path, "'system' or 'soft'", value);
  const system = !('reason' in libraries.find('system')) && listDevices({ library: 'system' }).length > 0;
  return system ? 'system' : 'soft';
}

/** The same of the options of a function that has no others. */
export function kindOfOptions(options: unknown): LibraryKind {
  return kindOf(validate.object(options, 'options', ['library'])['library'], 'options.library');
}
