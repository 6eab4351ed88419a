// The enumerations of libibverbs, a theme a file. Each member is a number as in C.
export * from './completion.js';
export * from './device.js';
export * from './event.js';
export * from './flow.js';
export * from './memory.js';
export * from './names.js';
export * from './port.js';
export * from './queue-pair.js';
export * from './receive-queue.js';
export * from './work-request.js';
