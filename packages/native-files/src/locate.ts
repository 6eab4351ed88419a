import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isOurs, searchPlaces, workingDirectory } from './places.js';
import { requireFrom } from './require.js';
import { runningTarget, targetName } from './target.js';

/** A native file of a package, and where to look for the package. */
export interface Place {
  /** The package's name, '@verbs/hbl'. */
  name: string;
  /** The file that a build leaves, by its path from the package's folder. */
  file: string;
  /** `import.meta.url` of a module of the package. A bundler may have replaced it, or left nothing. */
  from: string | undefined;
}

/** The result of a search. */
export interface Located {
  /** The package's folder, if one was found. */
  folder?: string;
  /** The native file, if there is one. */
  path?: string;
}

/**
 * Finds a native file: what was built here is preferred to what the package brings in
 * `prebuilds/<platform>-<arch>-<libc>/`. If the module is part of a bundle, the installed package is used.
 */
export function locate({ name, file, from }: Place): Located {
  const own = packageFolder(from);
  const found = own === undefined ? {} : inFolder(own, file);
  if (found.path !== undefined || (own !== undefined && nameOf(own) === name)) return found;
  const installed = installedFolder(name, from);
  return installed === undefined ? {} : inFolder(installed, file);
}

/** The folder of a native file; if there is no such file, the one where a build would put it. */
export function folderOf(place: Place): string {
  const { folder = workingDirectory() ?? '/', path = join(folder, place.file) } = locate(place);
  return dirname(path);
}

/** The folder above `src/` or `dist/`. Its package.json is no help: tests load copies of `dist/` without one. */
function packageFolder(from: string | undefined): string | undefined {
  const start = directoryOf(from);
  if (start === undefined) return undefined;
  let folder = start;
  while (!['src', 'dist'].includes(basename(folder))) {
    const above = dirname(folder);
    if (above === folder) return dirname(start);
    folder = above;
  }
  return dirname(folder);
}

/** The name in a folder's package.json. */
function nameOf(folder: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: string }).name;
  } catch {
    return undefined;
  }
}

function inFolder(folder: string, file: string): Located {
  const prebuilt = join(folder, 'prebuilds', targetName(runningTarget()), basename(file));
  const path = [join(folder, file), prebuilt].find((each) => existsSync(each));
  return path === undefined ? { folder } : { folder, path };
}

/** Where the package is installed, as seen from the bundle, from the program, and from where it was started. */
function installedFolder(name: string, from: string | undefined): string | undefined {
  for (const place of searchPlaces(from)) {
    try {
      const folder = dirname(requireFrom(place).resolve(`${name}/package.json`));
      if (isOurs(folder, from)) return folder;
    } catch {
      // Not from there.
    }
  }
  return undefined;
}

function directoryOf(from: string | undefined): string | undefined {
  try {
    return from === undefined ? undefined : dirname(fileURLToPath(from));
  } catch {
    return undefined;
  }
}
