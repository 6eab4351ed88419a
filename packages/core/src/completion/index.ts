// Completions on their way back: completion queues, their channels, batches of completions, and the promises that wait
// for one.
export { CompletionBatch } from './completion-batch.js';
export { CompletionChannel } from './completion-channel.js';
export { type CompCntrCaps, CompletionCounter } from './completion-counter.js';
export { CompletionError } from './completion-error.js';
export { CompletionQueue } from './completion-queue.js';
export type { CqOptions } from './cq-options.js';
export { type WcTmInfo, WorkCompletion, wcStatusText } from './work-completion.js';
