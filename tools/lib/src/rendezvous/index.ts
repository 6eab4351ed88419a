/** How two programs find each other's queue pairs: addresses over TCP, then requests and responses over UD. */
export {
  type ConnectionAddress,
  type DatagramAddress,
  type RemoteRegion,
  connectionAddress,
  datagramAddress,
  regionMessage,
  remoteRegion,
} from './addresses.js';
export { DatagramPort } from './datagram-port.js';
export { delayed } from './delayed.js';
export { Fields } from './fields.js';
export { request, respond } from './request-response.js';
export { DEFAULT_PORT, Listener, SideChannel, dial } from './side-channel.js';
