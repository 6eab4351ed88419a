export * from './commands.js';
export { DevxObject } from './object.js';
export { type ExportSizes, getExportSizes } from './sharing.js';
