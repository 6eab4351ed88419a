/**
 * A round trip over a plain socket that takes longer means that the machine stood still: a Comm Channel lets its peer be
 * silent for 1.3 s, RC for 2.1 s.
 */
export const STALL_MS = 1000;
