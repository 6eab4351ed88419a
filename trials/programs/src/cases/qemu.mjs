import { join } from 'node:path';
import process from 'node:process';
import { needing, newPort } from './case.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

const program = join(import.meta.dirname, '../../ends/migration.mjs');

/**
 * The live migration of a machine whose guest writes into its memory meanwhile.
 * @param {Place} place
 * @param {string} folder
 * @returns {Generator<Case>}
 */
export function* qemuCases({ server: { address } }, folder) {
  for (const capability of ['', 'rdma-pin-all']) {
    const end = (/** @type {string[]} */ ...args) => [process.execPath, program, ...args, folder, capability];
    const uri = `rdma:${address}:${newPort()}`;
    yield {
      program: 'QEMU',
      name: `live migration ${capability}`,
      ready: /^ready$/m,
      server: end('target', uri),
      client: end('source', uri),
      prints: /^completed: /m,
      limit: 120,
      ...needing('qemu-system-x86_64'),
    };
  }
}
