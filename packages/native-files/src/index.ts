export { type Examined, examine } from './examine.js';
export { type Attempt, explain, type Reason, reasonOf } from './explain.js';
export { folderOf, type Located, locate, type Place } from './locate.js';
export { kNativeError, load, loadedFrom } from './load.js';
export { isOurs, searchPlaces } from './places.js';
export { installedProviders, type Provider } from './providers.js';
export { requireFrom } from './require.js';
export { runningTarget, type Target, targetName } from './target.js';
