import { cmCases } from './cm.mjs';
import { daplCases } from './dapl.mjs';
import { fioCases } from './fio.mjs';
import { glooCases } from './gloo.mjs';
import { guideCases } from './guide.mjs';
import { iserCases } from './iser.mjs';
import { languageCases } from './languages.mjs';
import { libfabricCases } from './libfabric.mjs';
import { mpiCases } from './mpi.mjs';
import { qemuCases } from './qemu.mjs';
import { ucxCases } from './ucx.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

/**
 * The programs that every release of Debian has.
 * @param {Place} place
 * @param {string} folder for programs that are compiled
 * @returns {Generator<Case>}
 */
export function* casesOfReleases(place, folder) {
  yield* cmCases(place);
  yield* libfabricCases(place);
  yield* fioCases(place);
  yield* mpiCases(place, folder);
  yield* ucxCases(place);
}

/**
 * @param {Place} place
 * @param {string} folder for programs that are compiled, and for data
 * @returns {Generator<Case>}
 */
export function* allCases(place, folder) {
  yield* guideCases(place, folder);
  yield* casesOfReleases(place, folder);
  yield* daplCases(place, folder);
  yield* glooCases(place, folder);
  yield* languageCases(place, folder);
  yield* iserCases(place, folder);
  yield* qemuCases(place, folder);
  if (place.name === 'processes')
    for (const [program, cannot] of absent) yield { program, name: '', client: [], cannot };
}

/**
 * Programs for verbs that Debian does not have, so that nobody looks for them in vain.
 * @type {[program: string, cannot: string][]}
 */
const absent = [
  ['valkey', "Debian's valkey is built without its RDMA module"],
  ['DiSNI', 'Debian has no package of it'],
  ['eRPC', 'Debian has no package of it'],
];
