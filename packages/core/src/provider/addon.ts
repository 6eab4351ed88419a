import { type AddonPlace, loadAddon } from '../base/addon.js';
import { native } from '../base/native.js';

/**
 * Loads the addon of a provider package, and hands it the function table of verbs_core.h. As {@link loadAddon}, it never
 * throws: an addon that does not load, or that needs a later table than this copy of `@verbs/core` has, is an error of
 * each use.
 */
export function loadProviderAddon(place: AddonPlace): unknown {
  return loadAddon(place, (addon) => {
    (addon as { setUp: (api: object) => number }).setUp(native.nativeApi);
  });
}
