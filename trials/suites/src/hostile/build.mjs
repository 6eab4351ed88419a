import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../../tools/setup/src/paths.mjs';
import { mustRun } from '../../../../tools/setup/src/shell.mjs';

const core = join(root, 'packages/core');
const soft = join(root, 'packages/soft');

/** An installation of its own: the packages find their native parts beside themselves. */
const installation = join(core, 'build/sanitize');

/** The C++ tests of the NIC under the same sanitizers are built there, too. */
const nic = join(soft, 'build/sanitize');

const flags =
  '-fsanitize=address,undefined -fno-sanitize=enum,vptr -fno-sanitize-recover=all -fno-omit-frame-pointer -g -O1';

/**
 * Builds @verbs/core and @verbs/soft with AddressSanitizer and UndefinedBehaviorSanitizer beside the ordinary builds.
 * Gives the path of the package's main file.
 * @param {NodeJS.ProcessEnv} env
 */
export function buildSanitized(env) {
  mustRun(
    'cmake',
    [
      '-S',
      join(soft, 'native'),
      '-B',
      nic,
      '-G',
      'Ninja',
      '-DCMAKE_BUILD_TYPE=Debug',
      '-DVERBS_SANITIZE=address,undefined',
    ],
    { env },
  );
  mustRun('cmake', ['--build', nic, '--target', 'soft_nic', 'shim_private', 'shim_dropin'], { env });

  // Files one by one: node-gyp builds beside its binding.gyp, which must not be the ordinary build's folder.
  rmSync(join(installation, 'native'), { recursive: true, force: true });
  mkdirSync(join(installation, 'native/binding'), { recursive: true });
  mkdirSync(join(installation, 'node_modules/@verbs/soft/build'), { recursive: true });
  copy(join(core, 'dist'), join(installation, 'dist'));
  copy(join(core, 'package.json'), join(installation, 'package.json'));
  for (const part of ['include', 'gyp']) link(join(core, 'native', part), join(installation, 'native', part));
  for (const part of readdirSync(join(core, 'native/binding')).filter((name) => name !== 'build')) {
    link(join(core, 'native/binding', part), join(installation, 'native/binding', part));
  }
  const nodeGyp = join(core, 'node_modules/node-gyp/bin/node-gyp.js');
  const sanitized = { ...env, CXXFLAGS: flags, LDFLAGS: flags };
  mustRun(
    process.execPath,
    [nodeGyp, '-C', join(installation, 'native/binding'), 'configure', 'build', '--jobs', 'max'],
    {
      env: sanitized,
    },
  );

  const peer = join(installation, 'node_modules/@verbs/soft');
  copy(join(soft, 'dist'), join(peer, 'dist'));
  copy(join(soft, 'package.json'), join(peer, 'package.json'));
  link(join(nic, 'lib'), join(peer, 'build/lib'));
  copy(join(soft, 'build/lib/verbs_soft.node'), join(nic, 'lib/verbs_soft.node'));
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
