// Devices and the objects that are created from one directly: the list of devices, the open context with its queries
// and events, and the protection domain, from which everything that moves data is created.
export { Context } from './context.js';
export type { DeviceEventEmitter, DeviceEventMap } from './device-event-emitter.js';
export { type DeviceList, listDevices, readSysfsFile } from './device-info.js';
export { importDevice, openDevice, type OpenOptions } from './open-device.js';
export { ProtectionDomain } from './protection-domain.js';
export { ThreadDomain } from './thread-domain.js';
