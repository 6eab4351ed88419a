import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needing, newPort, words } from './case.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

/** Send and receive both ways, an RDMA READ and a WRITE, of one and of several segments. */
const transaction = 'client SR 4096 3 server SR 1536 client RR 4096 2 server RW 1024 4 client RW 65536 1';

/**
 * uDAPL by the connection manager. Its providers are named in a file, each with the address of its end.
 * @param {Place} place
 * @param {string} folder
 * @returns {Generator<Case>}
 */
export function* daplCases(place, folder) {
  const file = join(folder, 'dat.conf');
  const line = (/** @type {string} */ address) =>
    `${address} u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "${address} 0" ""\n`;
  const [server, client] = [place.server.address, place.client.address];
  writeFileSync(file, line(server) + (server === client ? '' : line(client)));
  const common = { environment: { DAT_OVERRIDE: file }, port: 45_248, ...needing('dtest') };
  for (const args of ['', '-b 65536 -B 50', '-c -B 50', '-p']) {
    yield {
      ...{ program: 'dtest', name: args, ...common },
      server: words(`dtest -P ${server} ${args}`),
      client: words(`dtest -P ${client} ${args} -h ${server}`),
      prints: /DAPL Test Complete. PASSED/,
    };
  }
  for (const args of ['-t 1 -w 1 -i 100', '-t 2 -w 4 -i 20', '-t 1 -w 1 -i 100 -P']) {
    const port = newPort();
    yield {
      ...{ program: 'dapltest', name: `-T T -V ${args}`, ...common, port },
      server: words(`dapltest -T S -D ${server} -n ${port}`),
      client: words(`dapltest -T T -D ${client} -n ${port} -s ${server} -V ${args} ${transaction}`),
      // Data that is another one is told, and counts as passed all the same.
      prints: /^(?![^]*(mismatch|error|failed))[^]*Total WQE/i,
      stays: true,
    };
  }
}
