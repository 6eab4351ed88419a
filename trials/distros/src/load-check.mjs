// Whether every program and library of a release that is linked with RDMA libraries finds all its names in ours.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Problem } from '../../../tools/setup/src/problem.mjs';

/** @import { Root } from './root.mjs' */

/** The libraries of which we have one, or whose own names come from ours. */
const names = ['libibverbs.so.1', 'librdmacm.so.1', 'libmlx5.so.1', 'libefa.so.1'];

/**
 * @typedef {object} Loaded
 * @property {string[]} files that were checked
 * @property {{ file: string, missing: string[] }[]} failures
 */

/**
 * @param {Root} root
 * @param {Readonly<Record<string, string>>} environment that of programs on the software NIC
 * @returns {Loaded}
 */
export function loadCheck(root, environment) {
  const files = candidates(root);
  if (files.length === 0) throw new Problem(`nothing in ${root.path} is linked with ${names.join(', ')}`);
  const libraries = `LD_LIBRARY_PATH=${environment['LD_LIBRARY_PATH']}`;
  const failures = files.flatMap((file) => {
    const lines = linesOf(root, file, libraries);
    let missing = lines.filter(isMissing);
    if (missing.length > 0) {
      // A plugin's names are those of its program: they are missing with the release's own libraries, too.
      const anyway = new Set(linesOf(root, file, 'LD_LIBRARY_PATH=').filter(isMissing));
      missing = missing.filter((line) => !anyway.has(line));
    }
    // Without this the check would pass with the release's own libraries.
    missing.push(...lines.filter((line) => /^lib(ibverbs|rdmacm|mlx5)\.so\.1 => (\/usr)?\/lib/.test(line)));
    return missing.length === 0 ? [] : [{ file, missing }];
  });
  return { files, failures };
}

/**
 * @param {Root} root
 * @param {string} file
 * @param {string} libraries
 */
function linesOf(root, file, libraries) {
  const [program, ...args] = root.enter('env', libraries, 'LD_BIND_NOW=1', 'ldd', '-r', file);
  const { stdout, stderr } = spawnSync(program ?? '', args, { encoding: 'utf8' });
  return `${stdout}\n${stderr}`.split('\n').map((line) => line.trim());
}

/** @param {string} line */
function isMissing(line) {
  return /undefined symbol|version .* not found|not found|not defined in/.test(line);
}

/** @param {Root} root */
function candidates(root) {
  const places = ['bin', 'sbin', 'lib'].map((place) => join(root.path, 'usr', place));
  const patterns = names.flatMap((name) => ['-e', name]);
  const found = spawnSync('grep', ['-rlF', '--binary-files=text', ...patterns, ...places], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  return found.stdout
    .split('\n')
    .filter((path) => path !== '' && isLinked(path))
    .map((path) => path.slice(root.path.length))
    .sort();
}

/** @param {string} path */
function isLinked(path) {
  const { status, stdout } = spawnSync('objdump', ['-p', path], { encoding: 'utf8' });
  return status === 0 && names.some((name) => new RegExp(`NEEDED +${name.replaceAll('.', '\\.')}$`, 'm').test(stdout));
}
