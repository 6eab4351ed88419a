import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where a package has its addon. */
export interface AddonPlace {
  /** The package's name, '@verbs/hbl'. */
  name: string;
  /** The addon's file, by its path from the package's folder. */
  file: string;
  /** `import.meta.url` of a module of the package, anywhere in its `src/` or `dist/`. */
  from: string;
}

/**
 * Loads the Node-API addon of a package.
 *
 * @throws Error that names the file, and how to build it; `cause` is the loader's own error
 */
export function loadAddon({ name, file, from }: AddonPlace): unknown {
  const path = join(packageFolder(from), file);
  try {
    return createRequire(from)(path);
  } catch (cause) {
    throw new Error(
      `the native part of ${name} does not load from ${path}: build it with "npm run build:native" in the ` +
        `package's folder (needs g++, make, python3 and the package libibverbs-dev)`,
      { cause },
    );
  }
}

/** The folder above `src/` or `dist/`. Its package.json is no help: tests load copies of `dist/` without one. */
export function packageFolder(from: string): string {
  const start = dirname(fileURLToPath(from));
  let folder = start;
  while (!['src', 'dist'].includes(basename(folder))) {
    const above = dirname(folder);
    if (above === folder) return dirname(start);
    folder = above;
  }
  return dirname(folder);
}
