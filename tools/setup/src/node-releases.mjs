import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fetchNode } from './node-package.mjs';
import { toolsDirectory } from './paths.mjs';
import { say } from './say.mjs';

/** The oldest release line that the packages promise, those with long-term support, and the newest even one. */
export const releases = ['20.20.2', '22.23.3', '24.21.0', '26.10.0'];

/**
 * The program of a release of Node, fetched if it is not there.
 * @param {string} version
 * @param {string} [arch] of the processor, that of this machine if not given
 */
export function nodeProgram(version, arch = process.arch) {
  const directory = join(toolsDirectory, arch === process.arch ? `node-${version}` : `node-${version}-${arch}`);
  const program = join(directory, 'bin/node');
  if (!existsSync(program)) {
    say('Node', `fetching ${version} for ${arch} from npm`);
    fetchNode({ version, arch, part: 'bin/node', into: directory });
  }
  return program;
}
