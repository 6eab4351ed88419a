import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { npm } from './npm.mjs';
import { mustRun } from './shell.mjs';

/**
 * Unpacks a part of Node's release from npm, where it is a package without scripts.
 * @param {{ version: string, part: string, into: string }} what `part` is a path in the release, `bin/node` or `include`;
 *   `into` is the folder that it is in afterwards
 */
export function fetchNode({ version, part, into }) {
  const name = `node-linux-${process.arch}`;
  const partial = `${into}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  npm(['pack', `${name}@${version}`, '--pack-destination', partial]);
  const archive = join(partial, `${name}-${version}.tgz`);
  mustRun('tar', ['-xzf', archive, '-C', partial, '--strip-components=1', `package/${part}`]);
  rmSync(archive);
  rmSync(into, { recursive: true, force: true });
  renameSync(partial, into);
}
