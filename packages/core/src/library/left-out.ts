/** A device of the software NIC's configuration that is not in the list of devices. */
export interface LeftOutDevice {
  /** Its name in the configuration. */
  name: string;
  /** Why, and the remedy. */
  reason: string;
}

/** Each device in the words of the software NIC, "device NAME is left out: REASON; device …". */
export function leftOutDevices(failure: string | undefined): LeftOutDevice[] {
  // The first part is empty, then names and reasons take turns.
  const [before, ...parts] = (failure ?? '').split(/(?:^|; )device (\S+) is left out: /);
  if (before !== '') return [];
  return Array.from({ length: parts.length / 2 }, (_, i) => ({
    name: parts[2 * i] ?? '',
    reason: parts[2 * i + 1] ?? '',
  }));
}
