/** The largest values of unsigned integers of 24 and 32 bits. */
export const U24 = 0xffffff;
export const U32 = 0xffffffff;

/** 2^32: the weight of the upper half of a 64-bit field. */
export const HIGH = 0x1_0000_0000;
