// The rooms from top to bottom. Each imports only those below it (rooms.json), types too.
import './diagnostics/debug-log.js';
export * from './messages/index.js';
export * from './device/index.js';
export * from './qp/index.js';
export * from './completion/index.js';
export * from './posting/index.js';
export * from './memory/index.js';
export * from './library/index.js';
export * from './lifetime/index.js';
export * from './base/index.js';
export type * from './types/index.js';
export * from './enums/index.js';
