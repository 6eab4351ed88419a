export {
  type Capabilities,
  Device,
  type DeviceInfo,
  listDevices,
  listRepresentors,
  openDevice,
  openRepresentor,
  Representor,
  RepresentorFilter,
  type RepresentorInfo,
  unavailableReason,
} from './device.js';
export { Endpoint, type WaitOptions } from './endpoint.js';
export { EndpointCalls, type EndpointOptions, type Received } from './endpoint-calls.js';
export { DocaError, DocaStatus, statusName } from './errors.js';
export { setFaults } from './faults.js';
export { type LibraryKind, softModel } from './libraries.js';
export { PeerAddr, type PeerState, type PeerStats } from './peer-addr.js';
