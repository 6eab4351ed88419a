const PSN_MASK = 0xffffff;

export function addPsn(psn: number, count: number): number {
  return (psn + count) & PSN_MASK;
}

/** How far `a` is behind `b` (negative: before it), on the circle of 24 bits. */
export function psnDistance(a: number, b: number): number {
  return (((a - b) & PSN_MASK) << 8) >> 8;
}
