import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isOurs, searchPlaces } from './places.js';
import { requireFrom } from './require.js';

/**
 * A package that adds to the verbs what a vendor or a library has: one whose package.json has an object `verbs`, and
 * names @verbs/core among its dependencies or peers.
 */
export interface Provider {
  /** '@verbs/hbl' */
  name: string;
  /** The package's, behind all links. */
  folder: string;
  /** Its module, for import(). */
  module: string;
  /** `verbs.kind`: the `kind=` of its devices on the software NIC, 'hbl'; missing if it has none. */
  kind?: string;
  /** `verbs.devices`: how the names of the devices begin that its `listDevices()` adds to the software NIC, 'hbl_'. */
  devices?: string;
}

interface Manifest {
  name?: string;
  main?: string;
  exports?: { '.'?: { import?: { default?: string } } };
  verbs?: { kind?: unknown; devices?: unknown } | null;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/**
 * The installed providers, by name, without loading any: the dependencies of the module that asks, of the program and of
 * where it was started, and the packages beside one of the project's, which are those of a flat node_modules or of its
 * workspace. What belongs to other users is not there.
 *
 * @param from the `import.meta.url` of the module that asks
 */
export function installedProviders(from: string): Provider[] {
  const found = new Map<string, Provider>();
  for (const folder of candidates(from)) {
    const provider = providerIn(folder, from);
    if (provider !== undefined && !found.has(provider.name)) found.set(provider.name, provider);
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The folders of packages that may be providers. */
function* candidates(from: string): Generator<string, void, undefined> {
  for (const place of searchPlaces(from)) {
    const start = dirname(place.startsWith('file:') ? fileURLToPath(place) : place);
    for (let folder = start; ; folder = dirname(folder)) {
      const manifest = readManifest(folder);
      if (manifest !== undefined) yield* dependencies(manifest, folder);
      if (String(manifest?.name).startsWith('@verbs/')) yield* neighbours(folder);
      if (dirname(folder) === folder) break;
    }
  }
}

function* dependencies(manifest: Manifest, folder: string): Generator<string, void, undefined> {
  const { resolve } = requireFrom(join(folder, 'package.json'));
  const { dependencies: plain, devDependencies, optionalDependencies, peerDependencies } = manifest;
  for (const name of Object.keys({ ...plain, ...devDependencies, ...optionalDependencies, ...peerDependencies })) {
    try {
      yield dirname(resolve(`${name}/package.json`));
    } catch {
      // Not installed, or it shows no package.json: no provider.
    }
  }
}

function neighbours(folder: string): string[] {
  const parent = dirname(folder);
  try {
    return readdirSync(parent).map((name) => join(parent, name));
  } catch {
    // It may be searched, but not listed.
    return [];
  }
}

function providerIn(folder: string, from: string): Provider | undefined {
  const manifest = readManifest(folder);
  if (typeof manifest?.name !== 'string' || !isProvider(manifest)) return undefined;
  const { name, verbs, main = 'index.js', exports } = manifest;
  const real = realpathSync(folder);
  if (!isOurs(real, from)) return undefined;
  const { kind, devices } = verbs ?? {};
  return {
    name,
    folder: real,
    module: join(real, exports?.['.']?.import?.default ?? main),
    ...(typeof kind === 'string' && { kind }),
    ...(typeof devices === 'string' && { devices }),
  };
}

/** Other packages may have a field of that name, too. */
function isProvider({ verbs, dependencies, peerDependencies }: Manifest): boolean {
  const needs = { ...dependencies, ...peerDependencies };
  return typeof verbs === 'object' && verbs !== null && !Array.isArray(verbs) && '@verbs/core' in needs;
}

function readManifest(folder: string): Manifest | undefined {
  try {
    const value = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as unknown;
    // Any file of the folders above may have that name.
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
