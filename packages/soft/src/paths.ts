import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// src/ and dist/ both lie right below the package's root.
const lib = join(dirname(fileURLToPath(import.meta.url)), '..', 'build', 'lib');

/** Absolute path of the libibverbs of the software NIC, for loading by this path (its SONAME is its own). */
export const library = join(lib, 'libverbs-soft-ibverbs.so.1');

/** Absolute path of the NIC itself, which both libibverbs of this package use: one for the process. */
export const nicLibrary = join(lib, 'libverbs-soft-nic.so.1');

/**
 * Absolute path of the folder whose `libibverbs.so.1` is the software NIC's: put in front of LD_LIBRARY_PATH, it lets
 * an unchanged program run on the software NIC.
 */
export const dropIn = join(lib, 'dropin');

export const addonPath = join(lib, 'verbs_soft.node');
