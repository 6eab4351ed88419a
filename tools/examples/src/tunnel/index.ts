export { type Delivery, deliver } from './delivery.js';
export { explain } from './explain.js';
export type { Field, Layer } from './fields.js';
export { TUNNEL_NAMES, type TunnelName } from './tunnels.js';
