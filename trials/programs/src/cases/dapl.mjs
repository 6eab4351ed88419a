import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needing, newPort, words } from './case.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

/** Send and receive both ways, an RDMA READ and a WRITE, of one and of several segments. */
const transaction = 'client SR 4096 3 server SR 1536 client RR 4096 2 server RW 1024 4 client RW 65536 1';

/**
 * uDAPL by the connection manager. Its providers are named in a file, with the address of that end. The server of dtest
 * tells its client the name, so that it is the same at both.
 * @param {Place} place
 * @param {string} folder
 * @returns {Generator<Case>}
 */
export function* daplCases(place, folder) {
  const at = (/** @type {'server' | 'client'} */ end) => {
    const file = join(folder, `${end}.conf`);
    writeFileSync(file, `verbs u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "${place[end].address} 0" ""\n`);
    return `env DAT_OVERRIDE=${file}`;
  };
  const [server, client] = [at('server'), at('client')];
  const common = { port: 45_248, ...needing('dtest') };
  for (const args of ['', '-b 65536 -B 50', '-c -B 50', '-p']) {
    yield {
      ...{ program: 'dtest', name: args, ...common },
      server: words(`${server} dtest -P verbs ${args}`),
      client: words(`${client} dtest -P verbs ${args} -h ${place.server.address}`),
      prints: /DAPL Test Complete. PASSED/,
    };
  }
  for (const args of ['-t 1 -w 1 -i 100', '-t 2 -w 4 -i 20', '-t 1 -w 1 -i 100 -P']) {
    const port = newPort();
    yield {
      ...{ program: 'dapltest', name: `-T T -V ${args}`, ...common, port },
      server: words(`${server} dapltest -T S -D verbs -n ${port}`),
      client: words(`${client} dapltest -T T -D verbs -n ${port} -s ${place.server.address} -V ${args} ${transaction}`),
      // Data that is another one is told, and counts as passed all the same.
      prints: /^(?![^]*(mismatch|error|failed))[^]*Total WQE/i,
      stays: true,
    };
  }
}
