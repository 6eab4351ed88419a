/**
 * A suite that proves the product, beside `npm test`.
 * @typedef {object} Trial
 * @property {string} proves
 * @property {string} needs beside what the set-up installs
 * @property {string} takes on two processors
 * @property {string[]} command of Node: a program that sets up by itself, unless `ready` says otherwise
 * @property {'build' | 'tests'} [ready] what is set up before
 */

/** @type {Record<string, Trial>} by name */
export const trials = {
  pyverbs: {
    proves: "rdma-core's own tests of libibverbs pass on the software NIC; a part of npm test",
    needs: '',
    takes: '1 min',
    command: ['trials/programs/bin/pyverbs.mjs'],
    ready: 'tests',
  },
  programs: {
    proves: 'UCX, MPI, QEMU, iSER, uDAPL, perftest and others run on it unmodified, on one host and on two',
    needs: 'Debian packages, which it installs',
    takes: '20 min',
    command: ['trials/programs/bin/programs.mjs'],
    ready: 'tests',
  },
  distros: {
    proves: 'the same for Debian 12, 13 and unstable, each in a root of its own, with its tests of rdma-core',
    needs: 'root, a mirror of Debian',
    takes: '1 h',
    command: ['trials/distros/bin/distros.mjs'],
    ready: 'tests',
  },
  conformance: {
    proves: 'the rules of the verbs, in plain C, hold; on another device with --device',
    needs: '',
    takes: '1 min',
    command: ['trials/suites/conformance.mjs'],
  },
  interop: {
    proves: "the NIC and the kernel's soft RoCE on one wire: operations, programs, faults; a part of npm test",
    needs: 'qemu',
    takes: '10 min',
    command: ['trials/testbed/bin/interop.mjs'],
    ready: 'build',
  },
  kernel: {
    proves: "that suite, the verbs command and the examples run over the kernel's own verbs",
    needs: 'qemu',
    takes: '10 min',
    command: ['trials/testbed/bin/kernel.mjs'],
    ready: 'build',
  },
  testbed: {
    proves: "nothing by itself: runs COMMAND on the kernel's own RDMA stack, in a virtual machine",
    needs: 'qemu',
    takes: '1 min',
    command: ['trials/testbed/bin/testbed.mjs'],
  },
  uverbs: {
    proves: "what reaches the kernel through Debian's own libraries is what a C program sends; a part of npm test",
    needs: '',
    takes: '1 min',
    command: ['trials/uverbs/bin/uverbs.mjs'],
    ready: 'build',
  },
  shm: {
    proves: 'the tests of two ends pass over shared memory, also with an adversary that writes into it',
    needs: '',
    takes: '5 min',
    command: ['trials/suites/shm.mjs'],
  },
  faults: {
    proves: 'every operation ends right under every fault of the network, by a seed',
    needs: '',
    takes: '2 min',
    command: ['trials/suites/faults.mjs'],
  },
  chaos: {
    proves: 'transfers between real processes are right while something happens to one of them',
    needs: 'root',
    takes: '10 min',
    command: ['trials/chaos/chaos.mjs'],
  },
  kills: {
    proves: 'a process that is killed harms nobody else, 1,000 times',
    needs: 'root',
    takes: '30 min',
    command: ['trials/chaos/kills.mjs'],
  },
  soak: {
    proves: 'memory, descriptors and latencies stay flat under mixed traffic',
    needs: '',
    takes: '1 h',
    command: ['trials/chaos/soak.mjs'],
  },
  long: {
    proves: 'the Comm Channel: a million messages each way, with 2 % loss too, and 200 peers killed',
    needs: '',
    takes: '2 min',
    command: ['tools/setup/run.mjs', 'pnpm', '--dir', 'packages/doca-comm', 'run', 'test:long'],
    ready: 'tests',
  },
  hostile: {
    proves: 'random hostile calls of @verbs/core or @verbs/doca-comm do no harm, under AddressSanitizer, by a seed',
    needs: '',
    takes: '10 min',
    command: ['trials/suites/hostile.mjs'],
  },
  sanitize: {
    proves: 'the C++ tests pass with AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer',
    needs: '',
    takes: '30 min',
    command: ['trials/suites/sanitize.mjs'],
  },
  fuzz: {
    proves: 'no bytes of others harm: parsers, rings, the steering engine, whole devices',
    needs: 'clang, which it installs',
    takes: '10 min',
    command: ['trials/suites/fuzz.mjs'],
  },
  leaks: {
    proves: '100,000 objects of every type, made and closed or collected, leave nothing',
    needs: '',
    takes: '10 min',
    command: ['--expose-gc', '--max-semi-space-size=1', 'packages/core/test/programs/leaks.mjs'],
    ready: 'build',
  },
  nodes: {
    proves: "the packages' tests pass on Node 20, 22, 24 and 26, with one build of the addons",
    needs: 'the npm registry',
    takes: '30 min',
    command: ['trials/suites/nodes.mjs'],
  },
  packed: {
    proves: 'the packages work as users get them: packed, installed, run, and broken on purpose; a part of npm test',
    needs: '',
    takes: '3 min',
    command: ['tools/release/packed.mjs'],
  },
  arm64: {
    proves: "the packages work on arm64, built by Debian's cross compiler",
    needs: 'qemu-user',
    takes: '20 min',
    command: ['tools/release/arm64.mjs'],
  },
  coverage: {
    proves: 'every C function of libibverbs has its method, or a reason why there is none; --write writes the list',
    needs: '',
    takes: '10 s',
    command: ['tools/check/api-coverage.mjs', 'packages/core'],
    ready: 'build',
  },
  reliability: {
    proves: 'nothing by itself: sums up what the long suites have run on this machine',
    needs: '',
    takes: '1 s',
    command: ['trials/suites/reliability.mjs'],
  },
};
