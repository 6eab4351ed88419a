import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../../tools/setup/src/paths.mjs';
import { mustRun } from '../../../../tools/setup/src/shell.mjs';

const folderOf = (/** @type {string} */ name) => join(root, 'packages', name);

const flags =
  '-fsanitize=address,undefined -fno-sanitize=enum,vptr -fno-sanitize-recover=all -fno-omit-frame-pointer -g -O1';

/**
 * The libraries of a package, beside those of `npm run trial sanitize`.
 * @param {string} name of the package
 * @param {string[]} targets
 * @param {NodeJS.ProcessEnv} env
 */
function buildLibraries(name, targets, env) {
  const folder = join(folderOf(name), 'build/sanitize');
  const flags = ['-DCMAKE_BUILD_TYPE=Debug', '-DVERBS_SANITIZE=address,undefined'];
  if (name !== 'soft') flags.push(`-DVERBS_SOFT_BUILD=${join(folderOf('soft'), 'build/sanitize')}`);
  mustRun('cmake', ['-S', join(folderOf(name), 'native'), '-B', folder, '-G', 'Ninja', ...flags], { env });
  mustRun('cmake', ['--build', folder, '--target', ...targets], { env });
  return join(folder, 'lib');
}

/**
 * An installation of a package of its own: the packages find their native parts beside themselves.
 * @param {string} name of the package
 * @param {NodeJS.ProcessEnv} env
 */
function install(name, env) {
  const folder = folderOf(name);
  const installation = join(folder, 'build/sanitized-package');
  // Files one by one: node-gyp builds beside its binding.gyp, which must not be the ordinary build's folder.
  rmSync(join(installation, 'native'), { recursive: true, force: true });
  mkdirSync(join(installation, 'native/binding'), { recursive: true });
  mkdirSync(join(installation, 'node_modules/@verbs'), { recursive: true });
  mkdirSync(join(installation, 'build'), { recursive: true });
  copy(join(folder, 'dist'), join(installation, 'dist'));
  copy(join(folder, 'package.json'), join(installation, 'package.json'));
  for (const part of readdirSync(join(folder, 'native/binding')).filter((each) => each !== 'build')) {
    link(join(folder, 'native/binding', part), join(installation, 'native/binding', part));
  }
  link(join(folder, 'native/include'), join(installation, 'native/include'));
  const nodeGyp = join(folder, 'node_modules/node-gyp/bin/node-gyp.js');
  const sanitized = { ...env, CXXFLAGS: flags, LDFLAGS: flags };
  const command = [nodeGyp, '-C', join(installation, 'native/binding'), 'configure', 'build', '--jobs', 'max'];
  mustRun(process.execPath, command, { env: sanitized });
  return installation;
}

/**
 * Builds @verbs/core and @verbs/soft with AddressSanitizer and UndefinedBehaviorSanitizer beside the ordinary builds, and
 * with `doca-comm` also @verbs/doca-comm. Gives the path of the package's main file.
 * @param {'core' | 'doca-comm'} name of the package
 * @param {NodeJS.ProcessEnv} env
 */
export function buildSanitized(name, env) {
  const nic = buildLibraries('soft', ['soft_nic', 'shim_private', 'shim_dropin'], env);
  const core = install('core', env);
  const soft = join(core, 'node_modules/@verbs/soft');
  mkdirSync(join(soft, 'build'), { recursive: true });
  copy(join(folderOf('soft'), 'dist'), join(soft, 'dist'));
  copy(join(folderOf('soft'), 'package.json'), join(soft, 'package.json'));
  link(nic, join(soft, 'build/lib'));
  copy(join(folderOf('soft'), 'build/lib/verbs_soft.node'), join(nic, 'verbs_soft.node'));
  if (name === 'core') return join(core, 'dist/index.js');

  const targets = ['soft_doca', 'common_private', 'comm_channel_private', 'comch_private'];
  const model = buildLibraries(name, targets, env);
  const installation = install(name, env);
  link(model, join(installation, 'build/lib'));
  link(core, join(installation, 'node_modules/@verbs/core'));
  link(soft, join(installation, 'node_modules/@verbs/soft'));
  return join(installation, 'dist/index.js');
}

/**
 * @param {string} from
 * @param {string} to
 */
function copy(from, to) {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
}

/**
 * @param {string} from
 * @param {string} to
 */
function link(from, to) {
  rmSync(to, { recursive: true, force: true });
  symlinkSync(from, to);
}
