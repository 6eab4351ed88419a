/** Types of blocks. */
export const SECTION_HEADER = 0x0a0d0d0a;
export const INTERFACE = 1;
/** Obsolete, written by old programs. */
export const PACKET = 2;
export const SIMPLE_PACKET = 3;
export const ENHANCED_PACKET = 6;
export const JOURNAL = 9;
