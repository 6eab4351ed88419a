import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// src/ and dist/ are folders of the package's root.
const lib = join(dirname(fileURLToPath(import.meta.url)), '..', 'build', 'lib');

/** Absolute path of the libibverbs of the software NIC, for dlopen() by this path; it has its own SONAME. */
export const library = join(lib, 'libverbs-soft-ibverbs.so.1');

/** Absolute path of the NIC, which both libibverbs of this package use: there is one NIC in a process. */
export const nicLibrary = join(lib, 'libverbs-soft-nic.so.1');

/**
 * Absolute path of the folder with the `libibverbs.so.1` of the software NIC. At the front of LD_LIBRARY_PATH, it makes an
 * unchanged program run on the software NIC.
 */
export const dropIn = join(lib, 'dropin');

export const addonPath = join(lib, 'verbs_soft.node');
