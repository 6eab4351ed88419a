export { type Cqe, createCq, type HblCqOptions, queryCq, type QueryCqAttr, readCq } from './completion-queue.js';
export { type CollQpAttr, type CollSchedResource, reserveCollQps, reserveCollSchedResources } from './collective.js';
export { isSupported, listDevices, openDevice, type OpenAttr, queryDevice } from './device.js';
export { decodeDoorbell, type Doorbell, encodeDoorbell, encodeWqe, type Wqe, WqeFlags, WqeOpcode } from './doorbell.js';
export { createEncap, Encap, type EncapAttr } from './encap.js';
export * from './enums.js';
export { vendorLibrary } from './libraries.js';
export { type PortExAttr, queryPort, type QueryPortAttr, setPortEx, type WqArrayAttr } from './port.js';
export {
  type HblModify,
  type HblQpAttr,
  migrateQp,
  modifyQp,
  queryQp,
  type QueryQpAttr,
  SendWorkQueue,
} from './queue-pair.js';
export { softModel } from './soft-model.js';
export { createUsrFifo, UsrFifo, type UsrFifoAttr } from './usr-fifo.js';
