/** A whole number from `low` to `high`, or a RangeError that names the argument. */
export function natural(name: string, value: number | bigint, high: bigint, low = 0n): bigint {
  const whole = typeof value === 'bigint' || Number.isSafeInteger(value);
  const number = whole ? BigInt(value) : -1n;
  if (number < low || number > high) {
    throw new RangeError(
      `${name}: expected a whole number from ${low.toString()} to ${high.toString()}, got ${show(value)}`,
    );
  }
  return number;
}

/** A value, formatted for a message. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value !== 'object') return String(value);
  return Array.isArray(value) ? `[${value.map(show).join(', ')}]` : 'an object';
}
