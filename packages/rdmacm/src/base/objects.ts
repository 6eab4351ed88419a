// The objects by name, for files below them: an identifier names its channel and an event its identifier, while the channel
// makes both. As in C, the ring is opened by declaring the name ahead of the definition. These are the only imports
// upwards, and only files that cannot import the class itself use them (`npm run lint rooms`).
export type { CmId } from '../cm/cm-id.js';
export type { EventChannel } from '../cm/event-channel.js';
