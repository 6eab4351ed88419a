import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The tests that must pass, by their names in the suite. */
export const required = read('required.txt');

/** Tests that must pass on the model of an mlx5 device. */
export const requiredOnMlx5 = read('required-mlx5.txt');

/** Those that rdma-core 56 has no more, or has as several others. */
const ofEarlierReleases = [
  'tests.test_odp.OdpTestCase.test_odp_rc_srq_traffic',
  'tests.test_mlx5_dr.Mlx5DrTest.test_packet_reformat',
];

/**
 * Whether this release's suite is without a test that must pass.
 * @param {import('./summary.mjs').Outcomes} outcomes
 * @param {string} name
 */
export const isGone = (outcomes, name) => outcomes[name] === undefined && ofEarlierReleases.includes(name);

/** @param {string} file */
function read(file) {
  return readFileSync(join(import.meta.dirname, '.', file), 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '');
}
