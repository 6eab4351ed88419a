import { type AddonPlace, loadAddon } from '../base/addon.js';
import { nativeApi } from './adopt.js';

/**
 * Loads the addon of a provider package, and hands it the function table of verbs_core.h.
 *
 * @throws Error as {@link loadAddon}
 */
export function loadProviderAddon(place: AddonPlace): unknown {
  const addon = loadAddon(place) as { setUp: (api: object) => number };
  addon.setUp(nativeApi);
  return addon;
}
