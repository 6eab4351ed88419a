/** The name of a value: `enumName(WcStatus, 12)` is 'RETRY_EXC_ERR'; an unknown value gives its number. */
export function enumName(values: Readonly<Record<string, number>>, value: number): string {
  return Object.keys(values).find((name) => values[name] === value) ?? String(value);
}

/** The names of the bits that are set, joined by '|'; 'NONE' for 0. */
export function flagNames(flags: Readonly<Record<string, number>>, value: number): string {
  const names = Object.keys(flags).filter((name) => ((flags[name] ?? 0) & value) !== 0);
  const known = names.reduce((sum, name) => sum | (flags[name] ?? 0), 0);
  if ((value & ~known) !== 0) names.push(`0x${(value & ~known).toString(16)}`);
  return names.length === 0 ? 'NONE' : names.join('|');
}
