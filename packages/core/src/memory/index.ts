// Memory that a device may reach: regions, windows, device memory.
export type { MwBindInfo } from './bind-info.js';
export { DeviceMemory } from './device-memory.js';
export { MemoryRegion, type ReregAttr } from './memory-region.js';
export { MemoryWindow } from './memory-window.js';
export type { Registrable } from './registrable.js';
