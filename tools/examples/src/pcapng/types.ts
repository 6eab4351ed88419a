/** Types of blocks. */
export const SECTION_HEADER = 0x0a0d0d0a;
export const ENHANCED_PACKET = 6;
