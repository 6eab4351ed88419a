import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fetchPackage } from '../../setup/src/npm-package.mjs';
import { toolsDirectory } from '../../setup/src/paths.mjs';
import { pnpmBin } from '../../setup/src/pnpm.mjs';
import { say } from '../../setup/src/say.mjs';

/**
 * A program that installs packages.
 * @typedef {object} Manager
 * @property {string} name
 * @property {() => string} program its JavaScript, fetched if it is not there
 * @property {string[]} args those before the packages' names; no scripts are run
 * @property {(registry: string) => Record<string, string>} files what a project needs for it, besides package.json
 */

const quietNpm = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];

/** @type {Manager} */
export const npm = {
  name: 'npm',
  // Not the program itself: its first line would need /usr/bin/env.
  program: () => realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim()),
  args: ['install', ...quietNpm],
  files: () => ({}),
};

/** @type {Manager} */
const pnpm = {
  name: 'pnpm',
  program: () => join(pnpmBin, '../pnpm/bin/pnpm.cjs'),
  args: ['add', '--ignore-scripts', '--reporter=silent'],
  files: (registry) => ({ '.npmrc': `registry=${registry}\n` }),
};

/** @type {Manager} */
const yarnClassic = {
  name: 'yarn 1',
  program: () => fetched('yarn', '1.22.22', 'bin/yarn.js'),
  args: ['add', '--ignore-scripts', '--non-interactive', '--silent', '--no-progress'],
  // As root, its cache is one of the machine, where archives of an earlier run have the same names and other contents.
  files: (registry) => ({ '.yarnrc': `registry "${registry}"\ncache-folder "./.yarn-cache"\n` }),
};

/** @type {Manager} */
const yarn = {
  name: 'yarn 4',
  program: () => fetched('@yarnpkg/cli-dist', '4.18.1', 'bin/yarn.js'),
  args: ['add'],
  files: (registry) => ({
    'yarn.lock': '', // makes the folder a project of its own
    '.yarnrc.yml': [
      'nodeLinker: node-modules',
      'enableScripts: false',
      'enableTelemetry: false',
      'enableGlobalCache: false',
      `npmRegistryServer: "${registry}"`,
      'unsafeHttpWhitelist: ["127.0.0.1"]',
      '',
    ].join('\n'),
  }),
};

/** All that people install with. */
export const managers = [npm, pnpm, yarnClassic, yarn];

/**
 * The path of a program of a package from npm, which needs no other package.
 * @param {string} name
 * @param {string} version
 * @param {string} program its path in the package
 */
export function fetched(name, version, program) {
  const into = join(toolsDirectory, `${name.replace(/^@/, '').replace('/', '-')}-${version}`);
  if (!existsSync(join(into, program))) {
    say('tools', `fetching ${name} ${version} from npm`);
    fetchPackage({ name, version, into });
  }
  return join(into, program);
}
