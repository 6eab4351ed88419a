import { join } from 'node:path';
import { installMissing } from '../../../tools/setup/src/debian.mjs';
import { root } from '../../../tools/setup/src/paths.mjs';
import { mustRun } from '../../../tools/setup/src/shell.mjs';

/** Where the C++ programs of @verbs/soft are built. */
export const softBuild = join(root, 'packages/soft/build');

/**
 * Builds programs that test the software NIC from outside.
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} [targets] all, if not given
 */
export function buildSoft(env, targets) {
  installMissing(['doctest-dev', 'libibverbs-dev', 'libibverbs1']);
  mustRun('cmake', ['-S', join(root, 'packages/soft/native'), '-B', softBuild, '-G', 'Ninja'], { env });
  mustRun('cmake', ['--build', softBuild, ...(targets === undefined ? [] : ['--target', ...targets])], { env });
}
