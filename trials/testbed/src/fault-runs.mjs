import { softConfiguration } from './host.mjs';
import { runCases } from './pairing.mjs';

/** @import { Guest } from './guest.mjs' */
/** @import { Result } from './pairing.mjs' */

/** The cases that recover from anything: many messages at once on reliable connections. */
export const lossyCases = 'rc stream';

/**
 * A fault of our packets by our own fault plan, and of the guest's by the kernel's netem.
 * @type {{ name: string, ours: (share: number) => string, netem: (percent: number) => string[] }[]}
 */
const faults = [
  { name: 'loss', ours: (share) => `drop=${share}`, netem: (percent) => ['loss', `${percent}%`] },
  { name: 'duplicates', ours: (share) => `duplicate=${share}`, netem: (percent) => ['duplicate', `${percent}%`] },
  {
    name: 'reordering',
    ours: (share) => `reorder=${share}`,
    // What is not reordered waits; the others overtake it.
    netem: (percent) => ['delay', '3ms', 'reorder', `${100 - percent}%`],
  },
  { name: 'corruption', ours: (share) => `corrupt=${share}`, netem: (percent) => ['corrupt', `${percent}%`] },
];

/**
 * Runs the reliable cases while packets of either end come to harm.
 * @param {Guest} guest
 * @param {string} program
 * @param {{ only: string, expected: number, each: (result: Result) => void }} options expected: results of one run
 */
export async function runFaults(guest, program, { only, expected, each }) {
  for (const family of /** @type {const} */ ([4, 6])) {
    for (const { name, ours, netem } of faults) {
      for (const percent of [1, 5]) {
        for (const end of /** @type {const} */ (['ours', 'rxe'])) {
          const fault = `${percent} % ${name} of ${end}`;
          if (!fault.includes(only)) continue;
          await disturb(guest, end === 'rxe' ? netem(percent) : []);
          const configuration =
            end === 'ours'
              ? { configuration: softConfiguration(family, `${ours(percent / 100)},seed=${percent}`) }
              : {};
          // A lost packet is repeated soon: there are many.
          const run = { part: 'faults', family, only: lossyCases, timeout: 15, expected, ...configuration };
          for (const result of await runCases(guest, program, run))
            each({ ...result, name: `${fault}: ${result.name}` });
        }
      }
    }
  }
  await disturb(guest, []);
}

/**
 * @param {Guest} guest
 * @param {string[]} netem nothing: the wire is as it was
 */
async function disturb(guest, netem) {
  await guest.run(['tc', 'qdisc', 'del', 'dev', 'eth0', 'root']);
  if (netem.length > 0)
    await guest.must(['tc', 'qdisc', 'add', 'dev', 'eth0', 'root', 'netem', 'limit', '20000', ...netem]);
}
