// The foundation of all rooms: the addon, errors, checks of arguments, symbols between objects, layouts of records.
// Knows no object of verbs.
export { VerbsError } from './errors.js';
export { formatGuid } from './gid.js';
export type { WaitOptions } from './wait-options.js';
