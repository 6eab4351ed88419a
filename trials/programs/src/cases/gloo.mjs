import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { words } from './case.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

const source = join(import.meta.dirname, '../../c/gloo.cc');

/**
 * The collectives of gloo, by an own program: the package is a library only.
 * @param {Place} place
 * @param {string} folder
 * @returns {Generator<Case>}
 */
export function* glooCases(place, folder) {
  const binary = join(folder, 'gloo');
  const command = [...place.compiler, ...words('g++ -std=c++17 -O1 -o'), binary, source, '-lgloo'];
  const { status, stderr } = spawnSync('env', command, { encoding: 'utf8' });
  const store = mkdtempSync(join(folder, 'store-'));
  const index = place.name === 'processes' ? 0 : 1;
  const rank = (/** @type {number} */ number) => [binary, String(number), '2', String(index), store];
  yield {
    program: 'gloo',
    name: 'collectives of two ranks over ibverbs',
    server: rank(0),
    client: rank(1),
    prints: /rank 1 of 2, 0 failures/,
    ...(status !== 0 && { cannot: stderr.split('\n').slice(-3).join(' ') }),
  };
}
