/** An RDMA WRITE through an encapsulation of @verbs/hbl, and the headers of its packets explained. */
export { type Delivery, deliver } from './delivery.js';
export { explain } from './explain.js';
export type { Field, Layer } from './fields.js';
export { TUNNEL_NAMES, type TunnelName } from './tunnels.js';
