import { requireInstalled } from './installed.js';

interface ModelPackage {
  /** The `kind=` of its devices in the configuration. */
  kind: string;
  name: string;
  /** The names of its default devices. */
  devices?: RegExp;
}

/** The packages that bring a model for the software NIC. */
const MODELS: readonly ModelPackage[] = [
  { kind: 'mlx5', name: '@verbs/mlx5', devices: /^mlx5_/ },
  { kind: 'hbl', name: '@verbs/hbl', devices: /^hbl_/ },
  { kind: 'doca', name: '@verbs/doca-comm' },
];

/** The kinds that were looked for: a package that is not installed is asked for once. */
const tried = new Set<string>();

/**
 * Lets the package that has a device of such a name add its default device to the software NIC, if it is installed.
 * False if there is no such package.
 */
export function addModelDevices(device: string): boolean {
  const found = MODELS.find(({ devices }) => devices?.test(device) === true);
  return found !== undefined && load(found);
}

/**
 * Loads the models that the software NIC missed when it listed its devices, from the packages that are installed.
 *
 * @param failure the NIC's own words about the devices that it left out
 * @returns false if none was loaded
 */
export function loadMissingModels(failure: string | undefined): boolean {
  if (failure === undefined) return false;
  const missing = new Set(Array.from(failure.matchAll(/no model of kind (\S+) is loaded/g), ([, kind]) => kind));
  const news = MODELS.filter(({ kind }) => missing.has(kind) && !tried.has(kind));
  // Before the first of them is loaded: its package lists the devices itself.
  for (const { kind } of news) tried.add(kind);
  return news.map(load).includes(true);
}

function load({ name }: ModelPackage): boolean {
  try {
    const found = requireInstalled(name) as { listDevices?: () => unknown } | undefined;
    found?.listDevices?.();
    return found !== undefined;
  } catch {
    // It is not built, or has no library here. The error is that the device is not there.
    return false;
  }
}
