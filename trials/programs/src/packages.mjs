/** The Debian packages of the programs, beside those that all tests need. */
export const debianPackages = [
  'fio',
  'ibverbs-utils',
  'libfabric-bin',
  'libmpich-dev',
  'libopenmpi-dev',
  'mpich',
  'openmpi-bin',
  'perftest',
  'qperf',
  'rdmacm-utils',
  'ucx-utils',
];
