/** The DOCA Comm Channel: a service and a client on the first fitting devices, and files sent between them. */
export { type Client, connectTo, type Service, serviceFor } from './ends.js';
export { type Arrived, FileReceiver } from './file-receiver.js';
export { type FileSent, sendFile } from './file-sender.js';
export type { FileResponse } from './protocol.js';
