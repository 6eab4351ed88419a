import { newPort, words } from './case.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

/** @param {Place} place @returns {Generator<Case>} */
export function* fioCases({ server: { address } }) {
  for (const verb of ['write', 'read', 'send']) {
    const port = newPort();
    const common = `--thread --ioengine=rdma --port=${port} --bs=64k --size=8m`;
    yield {
      program: 'fio',
      name: `ioengine=rdma, verb=${verb}`,
      port,
      // A receive for each message from the beginning: fio connects without RNR retries, so that a server that does not
      // get the processor in time ends it.
      server: words(`fio --name=server ${common} --rw=read --iodepth=128`),
      // To fio, the writing end is the client, whatever it does.
      client: words(`fio --name=client ${common} --rw=write --hostname=${address} --verb=${verb} --iodepth=1`),
      prints: /WRITE: bw=.*io=8192KiB/,
    };
  }
  yield {
    program: 'fio',
    name: 'ioengine=rdma, verify',
    client: ['fio'],
    cannot: "fio's rdma engine does not verify: what it reads is not what it wrote",
  };
}
