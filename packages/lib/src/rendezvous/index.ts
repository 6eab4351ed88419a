/** What two programs tell each other beside their data. */
export { type RemoteRegion, remoteRegion } from './region.js';
export { Conversation } from './conversation.js';
export { Fields } from './fields.js';
