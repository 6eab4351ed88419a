// The objects by name, for files below them: a child names its parent and a request its memory, while the parent makes the
// child, so their types refer to each other in a ring. As in C, the ring is opened by declaring the name ahead of the
// definition. These are the only imports upwards, and only files that cannot import the class itself use them
// (`npm run lint rooms`).
export type { CompletionQueue } from '../completion/completion-queue.js';
export type { WorkCompletion } from '../completion/work-completion.js';
export type { Context } from '../device/context.js';
export type { ProtectionDomain } from '../device/protection-domain.js';
export type { MemoryRegion } from '../memory/memory-region.js';
export type { MemoryWindow } from '../memory/memory-window.js';
export type { AddressHandle } from '../qp/address-handle.js';
export type { QueuePair } from '../qp/queue-pair.js';
export type { ReceiveWorkQueue } from '../qp/receive-work-queue.js';
export type { SharedReceiveQueue } from '../qp/shared-receive-queue.js';
export type { XrcDomain } from '../qp/xrc-domain.js';
