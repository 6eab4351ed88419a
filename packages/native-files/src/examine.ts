import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isWhole } from './elf.js';
import { type Reason, reasonOf } from './explain.js';
import { requireFrom } from './require.js';
import { runningTarget, targetName } from './target.js';

/** An installed package, and the state of its addon. */
export interface Examined {
  version: string;
  folder: string;
  /** The addon's path from the package's folder; none if there is no file. */
  file?: string;
  /** Why the addon cannot be used, and the remedy. */
  reason?: Reason;
}

/**
 * Loads the addon of an installed package and nothing else of it.
 *
 * @param from the `import.meta.url` of the module that wants to know, or a path
 * @returns undefined if the package is not installed
 */
export function examine(name: string, from: string): Examined | undefined {
  const manifest = resolved(`${name}/package.json`, from);
  if (manifest === undefined) return undefined;
  const folder = dirname(manifest);
  const { version = '?' } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string };
  const path = addonIn(folder);
  const about = { version, folder, ...(path !== undefined && { file: relative(folder, path) }) };
  const attempt = { name, file: '', folder, target: runningTarget() };
  if (path === undefined) return { ...about, reason: reasonOf(attempt) };
  try {
    if (!isWhole(path)) throw new Error('the file is cut off');
    requireFrom(path)(path);
    return about;
  } catch (cause) {
    return { ...about, reason: reasonOf({ ...attempt, path, cause }) };
  }
}

/** What was built in the package's folder, else what the package brings. */
function addonIn(folder: string): string | undefined {
  for (const place of ['build/lib', 'native/binding/build/Release', `prebuilds/${targetName(runningTarget())}`]) {
    const path = join(folder, place);
    const file = existsSync(path) ? readdirSync(path).find((each) => each.endsWith('.node')) : undefined;
    if (file !== undefined) return join(path, file);
  }
  return undefined;
}

function resolved(what: string, from: string): string | undefined {
  try {
    return requireFrom(from).resolve(what);
  } catch {
    return undefined;
  }
}
