import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../../tools/setup/src/paths.mjs';

/** The package whose own tests run over the kernel. */
const core = join(root, 'packages/core');

/**
 * The test files of @verbs/core that run over the kernel: from its folder `test`, without the ending.
 * @type {readonly string[]}
 */
export const kernelPlaces = [
  'completion/awaited',
  'completion/completion',
  'completion/event-loop',
  'completion/given-up',
  'completion/spin',
  'device/context',
  'device/domains',
  'diagnostics/diagnostics-requests',
  'lifetime/closing',
  'lifetime/copies',
  'lifetime/hostile',
  'lifetime/lifetimes',
  'lifetime/realms',
  'lifetime/threads',
  'lifetime/two-processes',
  'memory/buffers',
  'memory/memory',
  'memory/memory-forms',
  'memory/memory-window',
  'memory/remote-region',
  'messages/receiver',
  'posting/batch',
  'posting/batch-memory',
  'posting/data-path',
  'posting/extended',
  'qp/address-handle',
  'qp/address-handle-use',
  'qp/endpoint',
  'qp/qp-transition',
  'qp/queue-pair',
  'qp/reset',
  'qp/shared-receive-queue',
  'qp/types',
  'rendezvous/rendezvous',
];

/**
 * Those that cannot, and why. Any other file has not been compared yet.
 * @type {ReadonlyMap<string, string>}
 */
const impossible = new Map([
  ...[
    'completion/awaited-requests',
    'coverage',
    'entries',
    'library/newer-library',
    'readme',
    'records',
    'types/enumerations',
  ].map((place) => because(place, 'it opens no device, or the software NIC by its name')),
  ...['completion/poll-results', 'library/adapter-library', 'qp/indirection-cap', 'provider/provider-addon'].map(
    (place) => because(place, 'a library or an addon of the test stands in front of the software NIC'),
  ),
  ...['device/event-elements', 'device/device-events', 'device/soft-nic', 'diagnostics/diagnostics-states'].map(
    (place) => because(place, "it makes the events by the software NIC's own controls"),
  ),
  because('base/inspect', "it compares texts with the software NIC's names and values"),
  ...['device/devices', 'diagnostics/diagnostics', 'diagnostics/debug-log', 'base/errors'].map((place) =>
    because(place, 'it is about the software NIC as a library beside the system one'),
  ),
  ...['leaks', 'limits', 'programs', 'native-calls', 'leak-warning', 'hostile-sequences'].map((name) =>
    because(`lifetime/${name}`, 'its programs open the software NIC, and take minutes under emulation'),
  ),
]);

/**
 * @param {string} place
 * @param {string} reason
 * @returns {[string, string]}
 */
function because(place, reason) {
  return [place, reason];
}

/** @returns {string[]} every test file of the package, as `kernelPlaces` has them */
export function allPlaces() {
  return readdirSync(join(core, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => name.replace('.test.ts', ''))
    .sort();
}

/** @returns {Map<string, string>} what does not run over the kernel, and why */
export function leftOut() {
  const places = new Set([...allPlaces(), ...impossible.keys()]);
  for (const place of kernelPlaces) places.delete(place);
  return new Map([...places].map((place) => [place, impossible.get(place) ?? 'not compared yet']));
}
