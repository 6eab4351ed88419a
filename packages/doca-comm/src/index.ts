export { Client } from './comch/client.js';
export type { Connection, ConnectionCounters } from './comch/connection.js';
export type { Consumer, ConsumerOptions, Delivery } from './comch/consumer.js';
export { allocMmap, DocaAccess, type Mmap } from './comch/mmap.js';
export type { Producer, ProducerOptions } from './comch/producer.js';
export { Server, type ServerOptions } from './comch/server.js';
export type { ComchOptions } from './comch/server-or-client.js';
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
} from './base/device.js';
export { Endpoint } from './endpoint/endpoint.js';
export type { EndpointOptions, Received, ServiceState } from './endpoint/types.js';
export { DocaError, DocaStatus, statusName } from './base/errors.js';
export { setFaults } from './base/faults.js';
export {
  type Api,
  type ApiReport,
  type LibraryKind,
  type LibraryReport,
  probeLibraries,
  vendorLibrary,
} from './base/libraries.js';
export { PeerAddr, type PeerState, type PeerStats } from './endpoint/peer-addr.js';
export { softModel } from './base/soft-model.js';
export type { WaitOptions } from '@verbs/core';
