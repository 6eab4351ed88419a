// The enumerations of libibverbs, a theme a file. Each member is a number as in C.
export * from './enums/completion.js';
export * from './enums/device.js';
export * from './enums/event.js';
export * from './enums/flow.js';
export * from './enums/memory.js';
export * from './enums/names.js';
export * from './enums/port.js';
export * from './enums/queue-pair.js';
export * from './enums/receive-queue.js';
export * from './enums/work-request.js';
