// Objects that must be closed: the base class of all of them, which knows parents and children, and their counts.
export { objectCounts } from './object-counts.js';
export { openObjects } from './open-objects.js';
export type { Resource } from './resource.js';
