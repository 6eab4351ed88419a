import { type AddonPlace, loadAddon, packageOf } from '../base/addon.js';
import { native } from '../base/native.js';

/**
 * Loads the addon of a provider package, and hands it the function table of verbs_core.h. As {@link loadAddon}, it never
 * throws: an addon that does not load, or that needs a later table than this copy of `@verbs/core` has, is an error of
 * each use.
 */
export function loadProviderAddon(place: AddonPlace): unknown {
  return loadAddon(place, (addon) => {
    try {
      (addon as { setUp: (api: object) => number }).setUp(native.nativeApi);
    } catch (error) {
      throw withFolders(error, addon, place.name);
    }
  });
}

/** An addon of a later version says which table it needs; this says which two packages do not fit. */
function withFolders(error: unknown, addon: object, name: string): unknown {
  if ((error as { code?: string }).code !== 'ERR_VERBS_CORE_VERSION') return error;
  const problem = `${packageOf(addon)} does not fit ${packageOf(native)}: ${(error as Error).message}`;
  const remedy = `update @verbs/core; "npm ls @verbs/core" shows its copies, and who asks for them beside ${name}`;
  return Object.assign(error as Error, { reason: [problem, remedy] });
}
