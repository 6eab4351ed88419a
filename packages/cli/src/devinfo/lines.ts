const TAB = 8;

/**
 * `key:` and its value as ibv_devinfo aligns them: indented by tabs, then tabs up to the column of the values. At least
 * one tab stands between the two.
 */
export function keyValue(indent: number, key: string, value: string | number | bigint, column: number): string {
  const end = indent * TAB + key.length + 1;
  const tabs = Math.max(1, Math.ceil((column - end) / TAB));
  return `${'\t'.repeat(indent)}${key}:${'\t'.repeat(tabs)}${value}`;
}

/** An attribute of the device: one tab, values in column 40. */
export function deviceLine(key: string, value: string | number | bigint): string {
  return keyValue(1, key, value, 40);
}

/** An attribute of a port: three tabs, values in column 48. */
export function portLine(key: string, value: string | number | bigint): string {
  return keyValue(3, key, value, 48);
}

/** A flag by its name, below the attribute that holds it. */
export function flagLine(name: string): string {
  return `${'\t'.repeat(5)}${name}`;
}

/** The names of the set bits, one a line, then the bits that have none. */
export function flagLines(value: bigint, names: ReadonlyMap<number, string>): string[] {
  const lines: string[] = [];
  let unknown = value;
  for (const [bit, name] of names) {
    const mask = 1n << BigInt(bit);
    if ((value & mask) !== 0n) lines.push(flagLine(name));
    unknown &= ~mask;
  }
  if (unknown !== 0n) lines.push(flagLine(`Unknown flags: 0x${unknown.toString(16).toUpperCase()}`));
  return lines;
}

export function hexadecimal(value: number | bigint, digits = 0): string {
  return `0x${value.toString(16).padStart(digits, '0')}`;
}
