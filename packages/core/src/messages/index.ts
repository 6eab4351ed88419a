// Messages without buffers to care for: a receiver that owns its memory, and replies.
export { Message, type MessageData, type ReplyOptions } from './message.js';
export { Receiver, receiver, type ReceiverOptions } from './receiver.js';
