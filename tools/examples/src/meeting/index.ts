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
export { Fields } from './fields.js';
export { answer, ask } from './greeting.js';
export { DEFAULT_PORT, Listener, SideChannel, dial } from './side-channel.js';
export { completions } from './completions.js';
export { delayed } from './delayed.js';
export { Endpoint } from './endpoint.js';
