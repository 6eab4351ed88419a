/** What two programs tell each other beside their data. */
export {
  type ConnectionAddress,
  type RemoteRegion,
  connectionAddress,
  regionMessage,
  remoteRegion,
} from './addresses.js';
export { Conversation } from './conversation.js';
export { delayed } from './delayed.js';
export { Fields } from './fields.js';
export { DEFAULT_PORT, Listener, SideChannel, dial } from './side-channel.js';
