/**
 * The name of a value in an enumeration; an unknown value gives its number.
 *
 * @example enumName(WcStatus, 12); // 'RETRY_EXC_ERR'
 */
export function enumName(values: Readonly<Record<string, number>>, value: number): string {
  return Object.keys(values).find((name) => values[name] === value) ?? String(value);
}

/**
 * The names of the bits that are set, joined by '|'; 'NONE' for 0.
 *
 * @example flagNames(AccessFlags, mr.access); // 'LOCAL_WRITE|REMOTE_READ'
 */
export function flagNames(flags: Readonly<Record<string, number>>, value: number): string {
  const names = Object.keys(flags).filter((name) => ((flags[name] ?? 0) & value) !== 0);
  const known = names.reduce((sum, name) => sum | (flags[name] ?? 0), 0);
  // As an unsigned number: bit 31 is no sign.
  const unknown = (value & ~known) >>> 0;
  if (unknown !== 0) names.push(`0x${unknown.toString(16)}`);
  return names.length === 0 ? 'NONE' : names.join('|');
}
