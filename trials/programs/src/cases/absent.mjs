/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

/** Programs for verbs that Debian does not have, so that nobody looks for them in vain. @param {Place} place @returns {Generator<Case>} */
export function* absentCases(place) {
  if (place.name !== 'processes') return;
  for (const [program, cannot] of [
    ['valkey', "Debian's valkey is built without its RDMA module"],
    ['DiSNI', 'Debian has no package of it'],
    ['eRPC', 'Debian has no package of it'],
  ]) {
    yield { program: program ?? '', name: '', client: [], cannot: cannot ?? '' };
  }
}
