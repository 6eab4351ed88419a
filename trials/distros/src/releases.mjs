/**
 * A release of Debian, and what has to come out of it.
 * @typedef {object} Release
 * @property {string} suite as debootstrap knows it
 * @property {string} title for people
 * @property {string[]} packages of every check here, beside those that they depend on
 * @property {{ soft: number, mlx5: number }} pyverbs the least number of its rdma-core's own tests that pass: three of mlx5 choose flags
 *   at random, and are skipped with one that the model lacks
 * @property {Record<string, string>} failing tests of it that fail, each with the reason
 */

const load = [
  'ibverbs-providers',
  'ibverbs-utils',
  'infiniband-diags',
  'libfabric-bin',
  'perftest',
  'python3-pyverbs',
  'rdma-core',
  'rdmacm-utils',
  'ucx-utils',
];
const tests = ['iproute2', 'python3-scapy'];

/** @type {Release[]} */
export const releases = [
  {
    suite: 'bookworm',
    title: 'Debian 12',
    packages: [...load, ...tests],
    pyverbs: { soft: 153, mlx5: 47 },
    failing: {},
  },
  {
    suite: 'trixie',
    title: 'Debian 13',
    packages: [...load, ...tests],
    pyverbs: { soft: 164, mlx5: 69 },
    failing: {},
  },
  {
    suite: 'sid',
    title: 'Debian unstable',
    packages: [...load, ...tests],
    pyverbs: { soft: 207, mlx5: 77 },
    failing: {
      'tests.test_device.DMTest.test_multi_process_alloc_dm':
        "It hands a context to another process by pickle, which Python 3.14's way to start processes asks for.",
    },
  },
];

/** Further packages of the programs that the whole matrix runs. */
export const programPackages = ['fio', 'libmpich-dev', 'libopenmpi-dev', 'mpich', 'openmpi-bin', 'qperf'];

/** @param {string} suite */
export function releaseOf(suite) {
  return releases.find((release) => release.suite === suite);
}
