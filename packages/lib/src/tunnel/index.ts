/** An RDMA WRITE through an encapsulation of @verbs/hbl. */
export { type Delivery, deliver } from './delivery.js';
export { TUNNEL_NAMES, type TunnelName } from './tunnels.js';
