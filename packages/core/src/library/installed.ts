import { join } from 'node:path';
import { requireFrom } from '@verbs/native-files';

/** A package as this one, the program or the working directory finds it; undefined if it is not installed. */
export function requireInstalled(name: string): unknown {
  // Where this package is installed, where the program is, and where it was started.
  for (const place of [import.meta.url, process.argv[1], join(process.cwd(), 'package.json')]) {
    if (place === undefined || !/^(file:|\/)/.test(place)) continue;
    const { resolve, require } = seenFrom(place);
    const path = resolve(name);
    if (path !== undefined) return require(path);
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
