import { dirname, join } from 'node:path';
import { installedProviders, isOurs, type Provider, requireFrom, searchPlaces } from '@verbs/native-files';

/** A package as this one, the program or the working directory finds it; undefined if it is not installed, or another user's. */
export function requireInstalled(name: string): unknown {
  for (const place of searchPlaces(import.meta.url)) {
    const { resolve, require } = seenFrom(place);
    const path = resolve(name);
    if (path !== undefined && isOurs(dirname(path), import.meta.url)) return require(path);
  }
  return undefined;
}

function seenFrom(place: string) {
  const require = requireFrom(place);
  const resolve = (name: string): string | undefined => {
    try {
      return require.resolve(name);
    } catch {
      return undefined;
    }
  };
  return { resolve, require };
}

/** The kinds that were looked for: a package that is not installed is asked for once. */
const tried = new Set<string>();

/**
 * Lets the package that has a device of such a name add its default device to the software NIC, if it is installed.
 * False if there is no such package.
 */
export function addModelDevices(device: string): boolean {
  const found = installedProviders(import.meta.url).find(
    ({ devices }) => devices !== undefined && device.startsWith(devices),
  );
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
  const missing = Array.from(failure.matchAll(/no model of kind (\S+) is loaded/g), ([, kind = '']) => kind).filter(
    (kind) => !tried.has(kind),
  );
  if (missing.length === 0) return false;
  // Before the first of them is loaded: its package lists the devices itself.
  for (const kind of missing) tried.add(kind);
  return installedProviders(import.meta.url)
    .filter(({ kind }) => kind !== undefined && missing.includes(kind))
    .map(load)
    .includes(true);
}

function load({ name, folder }: Provider): boolean {
  try {
    // A package finds itself by its name.
    const found = requireFrom(join(folder, 'package.json'))(name) as { listDevices?: () => unknown };
    found.listDevices?.();
    return true;
  } catch {
    // It is not built, or has no library here. The error is that the device is not there.
    return false;
  }
}
