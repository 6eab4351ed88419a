import { requireFrom, searchPlaces } from '@verbs/native-files';

/** A package as this one, the program or the working directory finds it; undefined if it is not installed. */
export function requireInstalled(name: string): unknown {
  for (const place of searchPlaces(import.meta.url)) {
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
