import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where an installed package is looked for: as a module sees it, as the program does, and from where it was started. */
export function* searchPlaces(from: string | undefined): Generator<string, void, undefined> {
  for (const place of [from, process.argv[1]]) {
    if (place !== undefined && /^(file:|\/)/.test(place)) yield place;
  }
  const started = workingDirectory();
  if (started !== undefined) yield join(started, 'package.json');
}

/** Undefined if it was deleted. */
export function workingDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/**
 * Whether what was found is of somebody whose code runs in this process anyway: root, the user of the process, who owns the module that
 * asks, and who owns the program. A search that goes upwards from the working directory also passes folders such as /tmp, where anybody
 * may leave a package.
 *
 * @param folder behind all links
 * @param from the `import.meta.url` of the module that asks, or a path
 */
export function isOurs(folder: string, from: string | undefined): boolean {
  const user = process.geteuid?.();
  if (user === undefined) return true;
  const owner = ownerOf(folder);
  return owner !== undefined && [0, user, ownerOf(from), ownerOf(process.argv[1])].includes(owner);
}

function ownerOf(place: string | undefined): number | undefined {
  if (place === undefined) return undefined;
  try {
    return statSync(place.startsWith('file:') ? fileURLToPath(place) : place).uid;
  } catch {
    return undefined;
  }
}
