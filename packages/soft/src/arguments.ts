/** A value of the wrong type: TypeError with code ERR_INVALID_ARG_TYPE. */
export function typeError(name: string, problem: string): TypeError {
  return Object.assign(new TypeError(`${name}: ${problem}`), { code: 'ERR_INVALID_ARG_TYPE' });
}

/** A value of the right type that cannot be: TypeError with code ERR_INVALID_ARG_VALUE. */
export function valueError(name: string, problem: string): TypeError {
  return Object.assign(new TypeError(`${name}: ${problem}`), { code: 'ERR_INVALID_ARG_VALUE' });
}

/** A number outside of its range: RangeError with code ERR_OUT_OF_RANGE. */
export function rangeError(name: string, problem: string): RangeError {
  return Object.assign(new RangeError(`${name}: ${problem}`), { code: 'ERR_OUT_OF_RANGE' });
}

/** A whole number from `low` to `high`, or a RangeError that names the argument. */
export function natural(name: string, value: number | bigint, high: bigint, low = 0n): bigint {
  const whole = typeof value === 'bigint' || Number.isSafeInteger(value);
  const number = whole ? BigInt(value) : -1n;
  if (number < low || number > high) {
    throw rangeError(name, `expected a whole number from ${low.toString()} to ${high.toString()}, got ${show(value)}`);
  }
  return number;
}

/** A text, or a TypeError that names the argument. */
export function text(name: string, value: unknown): string {
  if (typeof value !== 'string') throw typeError(name, `expected a string, got ${show(value)}`);
  // The functions of C would take what is before it.
  if (value.includes('\0')) throw valueError(name, `it has a NUL character: ${show(value)}`);
  return value;
}

/** An object without other fields than those, or a TypeError that names the argument or the field. */
export function onlyFields(name: string, value: unknown, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null) throw typeError(name, `expected an object, got ${show(value)}`);
  const other = Object.keys(value).find((key) => !known.includes(key));
  if (other !== undefined) {
    throw valueError(`${name}.${other}`, `there is no such field; there is ${known.join(', ')}`);
  }
}

/** A value, formatted for a message. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value !== 'object') return String(value);
  return Array.isArray(value) ? `[${value.map(show).join(', ')}]` : 'an object';
}
