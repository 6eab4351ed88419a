// Memory that a device may reach: regions, windows, device memory.
export { DeviceMemory } from './device-memory.js';
export { DmaHandle, type DmahInitAttr } from './dma-handle.js';
export { LibraryBuffer } from './library-buffer.js';
export { MemoryRegion, type ReregAttr } from './memory-region.js';
export { MemoryWindow } from './memory-window.js';
export type { Registrable } from './registrable.js';
export type { MrInitAttr } from './registration.js';
