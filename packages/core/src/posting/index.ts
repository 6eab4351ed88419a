// Work requests on their way to a queue: checked, written as records, and posted by one native call, one by one or in
// batches.
export { RecvBatch } from './recv-batch.js';
export type { BatchOptions, RequestBatch } from './request-batch.js';
export { type BatchSendWr, SendBatch } from './send-batch.js';
