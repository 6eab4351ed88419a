/** 16 hexadecimal digits, as ibv_devices prints a GUID. */
export function hex64(value: bigint): string {
  return value.toString(16).padStart(16, '0');
}

/** xxxx:xxxx:xxxx:xxxx, as ibv_devinfo prints a GUID. */
export function guidText(value: bigint): string {
  return hex64(value).replace(/(.{4})(?=.)/g, '$1:');
}

/** QPNs, PSNs and keys are written in hexadecimal in this field. */
export function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

/** 10.0.0.1 instead of ::ffff:10.0.0.1. */
export function addressText(gid: string): string {
  return gid.replace(/^::ffff:(?=\d+\.)/, '');
}

/** 1.5 MB, in powers of 1000. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let value = bytes;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value.toFixed(0) : value.toFixed(1)} ${units[unit] ?? 'B'}`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A value of VERBS_SOFT, with its separators written as %XX. */
export function escapeValue(value: string): string {
  return value.replace(/[%,;#]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
