import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Problem } from './problem.mjs';
import { say } from './say.mjs';
import { exitStatus, mustRun, which } from './shell.mjs';

/** Packages for the build and the demo, and the programs that the README runs on the software NIC. */
const buildPackages = ['cmake', 'ibverbs-utils', 'libibverbs-dev', 'librdmacm-dev', 'ninja-build'];

/** The checkers of the C++ code: what `npm run lint` needs beside the build. */
export const lintPackages = ['clang-format-19', 'clang-tidy-19'];

/** Packages for the tests: headers, the programs they compare with, and the checkers. */
const testPackages = [
  ...lintPackages,
  'bash-completion',
  'busybox-static',
  'chromium-headless-shell',
  'cpio',
  'doctest-dev',
  'fish',
  'groff-base',
  'ibverbs-providers',
  'infiniband-diags',
  'iproute2',
  'iputils-ping',
  'kmod',
  'perftest',
  'python3-pyverbs',
  'python3-scapy',
  'qemu-system-x86',
  'qperf',
  'rdma-core',
  'rdmacm-utils',
  'tshark',
  'valgrind',
  'xz-utils',
  'zlib1g-dev',
  'zsh',
];

const listsDirectory = '/var/lib/apt/lists';
const staleAfterDays = 7;

/**
 * Installs what the build needs, and what the tests need.
 * @param {{ forTests: boolean }} options
 */
export function installDebianPackages({ forTests }) {
  installMissing(forTests ? [...buildPackages, ...testPackages].sort() : buildPackages);
}

/**
 * Installs the missing packages as root; otherwise throws a Problem with the one command to run.
 * @param {string[]} wanted
 */
export function installMissing(wanted) {
  if (which('dpkg-query') === undefined) {
    say('Debian packages', `this is not Debian, so nothing is checked; needed are ${wanted.join(' ')} or their like`);
    return;
  }
  const missing = missingPackages(wanted);
  if (missing.length === 0) {
    say('Debian packages', 'all there');
    return;
  }
  say('Debian packages', `missing ${missing.join(' ')}`);
  if (process.getuid?.() !== 0) {
    throw new Problem(
      `these Debian packages are missing. Run this once, then try again:\n\n    ${commandFor(missing)}\n`,
    );
  }
  install(missing);
}

/**
 * The wanted packages that dpkg does not call installed.
 * @param {string[]} wanted
 */
export function missingPackages(wanted) {
  // dpkg-query fails if there is one name it does not know, yet it answers for the others.
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Status}\\n', ...wanted], {
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
  });
  const lines = stdout.split('\n').filter((line) => line.endsWith(' installed'));
  const installed = new Set(lines.map((line) => line.split(' ')[0]));
  return wanted.filter((name) => !installed.has(name));
}

/**
 * The one command a user who is not root is asked to run.
 * @param {string[]} packages
 */
export function commandFor(packages) {
  return `sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}'`;
}

/** @param {string[]} packages */
function install(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const common = ['-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=3'];
  const installArgs = ['install', '-y', '--no-install-recommends', ...common, ...packages];
  const fresh = listsAreFresh();
  if (fresh && exitStatus('apt-get', installArgs, { env }) === 0) return;
  // Lists that are old may name versions which the mirror has dropped; so a failure is worth one update.
  say('Debian packages', fresh ? 'trying again with fresh package lists' : 'fetching the package lists');
  mustRun('apt-get', ['update', ...common], { env });
  mustRun('apt-get', installArgs, { env });
}

function listsAreFresh() {
  try {
    const times = readdirSync(listsDirectory)
      .filter((name) => name.includes('_Packages'))
      .map((name) => statSync(join(listsDirectory, name)).mtimeMs);
    return times.length > 0 && Date.now() - Math.max(...times) < staleAfterDays * 86_400_000;
  } catch {
    return false;
  }
}
