// Queue pairs and the objects around them: their attributes and transitions, address handles, shared and raw receive
// queues, flows.
export { AddressHandle } from './address-handle.js';
export type { ActivateOptions, ConnectOptions, InitOptions, RawActivateOptions } from './connect.js';
export type { EndpointOptions, QpEndpoint } from './endpoint.js';
export { Counters } from './counters.js';
export type * from './flow-spec.js';
export { Flow } from './flow.js';
export { IndirectionTable } from './indirection-table.js';
export type { QpInitAttr, RxHashConf } from './qp-init-attr.js';
export type { QpModify } from './qp-transition.js';
export type { Ece, QpQuery } from './qp-calls.js';
export { QueuePair } from './queue-pair.js';
export { ReceiveWorkQueue, type WqAttr, type WqInitAttr } from './receive-work-queue.js';
export type { ReceivedFrom } from './received-from.js';
export {
  SharedReceiveQueue,
  type SrqAttr,
  type SrqInitAttr,
  type TagMatching,
  type TagOptions,
  type TagWr,
} from './shared-receive-queue.js';
export { decodeTmh, encodeTmh, type Rvh, type Tmh } from './tag-header.js';
export { XrcDomain } from './xrc-domain.js';
