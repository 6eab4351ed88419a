import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from './npm.mjs';
import { mustRun } from './shell.mjs';

/**
 * Unpacks a package from npm, without what it depends on, and without running its scripts.
 * @param {{ name: string, version: string, part?: string, into: string }} what `part` is a path in the package,
 *   everything if not given; `into` is the folder that it is in afterwards
 */
export function fetchPackage({ name, version, part = '', into }) {
  const partial = `${into}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  npm(['pack', `${name}@${version}`, '--pack-destination', partial]);
  const archive = `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`;
  const paths = part === '' ? [] : [`package/${part}`];
  mustRun('tar', ['-xzf', join(partial, archive), '-C', partial, '--strip-components=1', ...paths]);
  rmSync(join(partial, archive));
  rmSync(into, { recursive: true, force: true });
  renameSync(partial, into);
}
