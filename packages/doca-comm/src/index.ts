export {
  type Capabilities,
  Device,
  type DeviceInfo,
  listDevices,
  listRepresentors,
  openDevice,
  type OpenDeviceOptions,
  openRepresentor,
  Representor,
  RepresentorFilter,
  type RepresentorInfo,
  unavailableReason,
} from './device.js';
export { Endpoint } from './endpoint.js';
export type { EndpointOptions, Received, ServiceState, WaitOptions } from './endpoint-types.js';
export { DocaError, DocaStatus, statusName } from './errors.js';
export { setFaults } from './faults.js';
export {
  type Api,
  type ApiReport,
  type LibraryKind,
  type LibraryReport,
  probeLibraries,
  vendorLibrary,
} from './libraries.js';
export { PeerAddr, type PeerState, type PeerStats } from './peer-addr.js';
export { softModel } from './soft-model.js';
