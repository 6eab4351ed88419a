import { cmCases } from './cm.mjs';
import { fioCases } from './fio.mjs';
import { libfabricCases } from './libfabric.mjs';
import { mpiCases } from './mpi.mjs';
import { ucxCases } from './ucx.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

/**
 * @param {Place} place
 * @param {string} folder for programs that are compiled
 * @returns {Generator<Case>}
 */
export function* allCases(place, folder) {
  yield* cmCases(place);
  yield* libfabricCases(place);
  yield* fioCases(place);
  yield* mpiCases(place, folder);
  yield* ucxCases(place);
}
