import { requireInstalled } from './libraries.js';

/** The packages that bring a model for the software NIC, by the names of their default devices. */
const MODELS: readonly (readonly [device: RegExp, name: string])[] = [
  [/^mlx5_/, '@verbs/mlx5'],
  [/^hbl_/, '@verbs/hbl'],
];

/**
 * Lets the package that has a device of such a name add its default device to the software NIC, if it is installed.
 * False if there is no such package.
 */
export function addModelDevices(device: string): boolean {
  const [, name] = MODELS.find(([pattern]) => pattern.test(device)) ?? [];
  if (name === undefined) return false;
  try {
    const found = requireInstalled(name) as { listDevices?: () => unknown } | undefined;
    found?.listDevices?.();
    return found !== undefined;
  } catch {
    // It is not built, or has no library here. The error is that the device is not there.
    return false;
  }
}
