import { spawnSync } from 'node:child_process';

/** The Debian packages of the programs, beside those that all tests need. */
const everywhere = [
  'fio',
  'gdc',
  'gfortran',
  'golang-go',
  'ibverbs-utils',
  'libfabric-bin',
  'libmpich-dev',
  'libopenmpi-dev',
  'luajit',
  'mpich',
  'openmpi-bin',
  'perftest',
  'php-cli',
  'qemu-system-x86',
  'qemu-utils',
  'qperf',
  'rdmacm-utils',
  'rustc',
  'ucx-utils',
];

/** Those that not every release of Debian has. */
const somewhere = ['dapl2-utils', 'libgloo-dev', 'libiscsi-bin', 'qemu-block-extra', 'tgt'];

/** The packages to install here. */
export function debianPackages() {
  const { stdout } = spawnSync('apt-cache', ['policy', ...somewhere], { encoding: 'utf8' });
  const isThere = (/** @type {string} */ name) =>
    new RegExp(`^${name}:\\n.*\\n  Candidate: (?!\\(none\\))`, 'm').test(stdout);
  return [...everywhere, ...somewhere.filter(isThere)].sort();
}
