export { configurationText, faultText } from './config.js';
export type { CaptureOptions, DeviceConfig, DeviceLimits, FaultPlan } from './config.js';
export {
  addDevices,
  captureStart,
  captureStop,
  configure,
  deviceNames,
  lastError,
  setFaults,
  stats,
} from './control.js';
export { dropInDirectory } from './drop-in.js';
export type { SoftModel } from './drop-in.js';
export { SoftError } from './errors.js';
export { dropIn, library, nicLibrary } from './paths.js';
