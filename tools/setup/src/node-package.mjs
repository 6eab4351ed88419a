import process from 'node:process';
import { fetchPackage } from './npm-package.mjs';

/**
 * Unpacks a part of Node's release from npm, where it is a package without scripts.
 * @param {{ version: string, arch?: string, part: string, into: string }} what `arch` is that of this machine if not given;
 *   `part` is a path in the release, `bin/node` or `include`; `into` is the folder that it is in afterwards
 */
export function fetchNode({ version, arch = process.arch, part, into }) {
  fetchPackage({ name: `node-linux-${arch}`, version, part, into });
}
