// libibverbs: which copies there are, why one does not load, and the functions that need no device.
export * from './functions.js';
export type { LeftOutDevice } from './left-out.js';
export { type LibraryReport, probeLibraries } from './libraries.js';
