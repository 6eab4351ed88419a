import { folderOf, type Place } from '@verbs/native-files';
import { join } from 'node:path';

export const addonPlace: Place = {
  name: '@verbs/soft',
  file: 'build/lib/verbs_soft.node',
  from: import.meta.url,
};

// The addon lies beside the libraries: there is one NIC in a process.
const lib = folderOf(addonPlace);

/** Absolute path of the libibverbs of the software NIC, for dlopen() by this path; it has its own SONAME. */
export const library = join(lib, 'libverbs-soft-ibverbs.so.1');

/** Absolute path of the NIC, which both libibverbs of this package use: there is one NIC in a process. */
export const nicLibrary = join(lib, 'libverbs-soft-nic.so.1');

/** Absolute path of the library that answers what programs ask the kernel about RDMA devices; see machineFor(). */
export const systemLibrary = join(lib, 'libverbs-soft-system.so');

/**
 * Absolute path of the folder with the `libibverbs.so.1` of the software NIC. At the front of LD_LIBRARY_PATH, it makes an
 * unchanged program run on the software NIC.
 */
export const dropIn = join(lib, 'dropin');
