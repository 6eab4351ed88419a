export { type Client, connectTo, type Service, serviceFor } from './ends.js';
export { FileReceiver, type Arrived } from './file-receiver.js';
export { type FileSent, sendFile } from './file-sender.js';
export type { FileAnswer } from './protocol.js';
export { ProgressBar } from '../transfer/progress-bar.js';
export { Failure as TransferFailure } from '../transfer/failure.js';
