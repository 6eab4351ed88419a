export { type Attempt, explain } from './explain.js';
export { folderOf, type Located, locate, type Place } from './locate.js';
export { kNativeError, load } from './load.js';
export { runningTarget, type Target, targetName } from './target.js';
