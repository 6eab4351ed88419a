// What several rooms and the program speak of: the structures of the C interface, the messages about them. Types alone:
// nothing of this room is left when the program runs.
export type * from './ah-attr.js';
export type * from './device.js';
export type * from './diagnostics.js';
export type * from './qp-attr.js';
export type * from './work-request.js';
