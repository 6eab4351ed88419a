import { warnOfCopies } from './copies.js';
import { isWhole } from './elf.js';
import { explain } from './explain.js';
import { locate, type Place } from './locate.js';
import { requireFrom } from './require.js';
import { runningTarget } from './target.js';

/** The `code` of the error of a native part that cannot be used. */
export const kNativeError = 'ERR_VERBS_NATIVE';

/** The folder of the package that an addon was loaded from. By Symbol.for: each package bundles its copy of this code. */
const kFolder = Symbol.for('@verbs/native-files.folder');

/** The folder of the package that an addon was loaded from; undefined for anything else. */
export function loadedFrom(addon: unknown): string | undefined {
  return typeof addon === 'object' && addon !== null ? (Reflect.get(addon, kFolder) as string | undefined) : undefined;
}

/**
 * Loads an addon and sets it up. A failure is reported at the first use, so that the package can be imported anywhere:
 * what then comes back throws an Error with the reason and the remedy whenever it is used.
 */
export function load(place: Place, setUp?: (addon: object) => void): object {
  const found = locate(place);
  try {
    if (found.path === undefined) return standIn(place, { ...found });
    // The system's loader would end the process with SIGBUS.
    if (!isWhole(found.path)) throw new Error('the file is cut off');
    const addon = requireFrom(found.path)(found.path) as object;
    Object.defineProperty(addon, kFolder, { value: found.folder ?? found.path, configurable: true });
    setUp?.(addon);
    warnOfCopies(place.name, found.folder ?? found.path);
    return addon;
  } catch (cause) {
    return standIn(place, { ...found, cause });
  }
}

function standIn(place: Place, found: { folder?: string; path?: string; cause?: unknown }): object {
  // The error of another package's native part is that package's.
  const known = (found.cause as { code?: string } | undefined)?.code === kNativeError;
  const message = known
    ? (found.cause as Error).message
    : explain({ ...found, name: place.name, file: place.file, target: runningTarget() });
  return new Proxy(
    {},
    {
      get(_, key) {
        // How a value is printed or awaited is no use of it.
        if (typeof key === 'symbol') return undefined;
        throw Object.assign(new Error(message, { cause: found.cause }), { code: kNativeError });
      },
    },
  );
}
