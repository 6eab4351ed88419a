import * as nodeModule from 'node:module';

/**
 * `createRequire`, under a name that webpack does not know: it would look for what is required while it bundles, warn
 * that it cannot tell, and take the whole folder into the bundle.
 */
export const requireFrom = Reflect.get(nodeModule, 'createRequire');
