import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../setup/src/paths.mjs';
import { Problem } from '../../setup/src/problem.mjs';
import { mustRun } from '../../setup/src/shell.mjs';
import { targetOf } from './prebuild.mjs';

/** @import { Package } from './packages.mjs' */

const parts = join(root, 'tools/release/archive');

/**
 * Packs what people without Node.js need: the libraries of `prebuilds/`, the command verbs-run, headers, and a file for
 * pkg-config.
 * @param {Package[]} packages those with a native part
 * @param {{ arch: string, into: string }} where
 * @returns {{ path: string, bytes: number }}
 */
export function makeArchive(packages, { arch, into }) {
  const soft = packages.find(({ name }) => name === '@verbs/soft');
  if (soft === undefined) throw new Problem('there is no @verbs/soft');
  const name = `verbs-soft-${soft.version}-${targetOf(arch).replace('-glibc', '')}`;
  const folder = join(into, name);
  rmSync(folder, { recursive: true, force: true });
  for (const each of ['bin', 'include', 'lib/pkgconfig']) mkdirSync(join(folder, each), { recursive: true });
  for (const each of packages) {
    const built = join(each.folder, 'prebuilds', targetOf(arch));
    cpSync(built, join(folder, 'lib'), { recursive: true, filter: (path) => !path.endsWith('.node') });
  }
  cpSync(join(parts, 'verbs-run'), join(folder, 'bin/verbs-run'));
  cpSync(join(parts, 'README.md'), join(folder, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  for (const header of ['verbs_soft.h', 'verbs_soft_extension.h']) {
    cpSync(join(soft.folder, 'native/include', header), join(folder, 'include', header));
  }
  const description = readFileSync(join(parts, 'verbs-soft.pc'), 'utf8').replace('@VERSION@', soft.version);
  writeFileSync(join(folder, 'lib/pkgconfig/verbs-soft.pc'), description);
  const path = join(into, `${name}.tar.gz`);
  mustRun('tar', ['-czf', path, '-C', into, '--owner=0', '--group=0', name]);
  rmSync(folder, { recursive: true });
  return { path, bytes: statSync(path).size };
}
