import { newPort } from './case.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

const endpoints = [
  { name: 'MSG', args: ['-p', 'verbs', '-e', 'msg', '-d', 'soft0'], connected: true },
  { name: 'RDM over MSG', args: ['-p', 'verbs;ofi_rxm', '-e', 'rdm'], connected: true },
  { name: 'DGRAM', args: ['-p', 'verbs', '-e', 'dgram', '-d', 'soft0-dgram'], connected: false },
  { name: 'RDM over DGRAM', args: ['-p', 'verbs;ofi_rxd', '-e', 'rdm'], connected: false },
];

/** Why its connected endpoints cannot run there. @type {Partial<Record<Place['name'], { cannot: string }>>} */
const where = {
  processes: { cannot: 'libfabric has no MSG endpoints at the loopback interface' },
  hosts: {
    cannot: 'the server takes "localhost", which a device without addr= has, and no option gives another address',
  },
};

/** @param {Place} place @returns {Generator<Case>} */
export function* libfabricCases(place) {
  for (const { name, args, connected } of endpoints) {
    const port = newPort();
    const common = ['fi_pingpong', ...args, '-c', '-I', '20'];
    yield {
      program: 'fi_pingpong',
      name,
      port,
      server: [...common, '-B', String(port)],
      client: [...common, '-P', String(port), place.server.address],
      prints: name === 'DGRAM' ? /4k +20 / : /1m +20 /,
      ...(connected && where[place.name]),
    };
  }
}
