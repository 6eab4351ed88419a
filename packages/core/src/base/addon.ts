import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Where a package has its addon. */
export interface AddonPlace {
  /** The package's name, '@verbs/hbl'. */
  name: string;
  /** The addon's file, by its path from the package's folder. */
  file: string;
  /** `import.meta.url` of a module of the package: the same from `src/` and from `dist/`. */
  from: string;
}

/**
 * Loads the Node-API addon of a package.
 *
 * @throws Error that names the file, and how to build it; `cause` is the loader's own error
 * @example
 * const place = { name: '@verbs/hbl', file: 'native/binding/build/Release/verbs_hbl.node', from: import.meta.url };
 * const addon = loadAddon(place) as Native;
 */
export function loadAddon({ name, file, from }: AddonPlace): unknown {
  const require = createRequire(from);
  const path = join(dirname(require.resolve(`${name}/package.json`)), file);
  try {
    return require(path);
  } catch (cause) {
    throw new Error(
      `the native part of ${name} does not load from ${path}: build it with "npm run build:native" in the ` +
        `package's folder (needs g++, make, python3 and the package libibverbs-dev)`,
      { cause },
    );
  }
}
