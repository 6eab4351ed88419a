import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustRun, outputOf } from '../../../../tools/setup/src/shell.mjs';
import { discoveredOf, programOf, regressionsOf, seedArchiveOf, unpackedSeedsOf } from './build.mjs';
import { zip } from './zip.mjs';

/**
 * Replaces a target's seed archive: libFuzzer's merge keeps the fewest of the old seeds, the regressions and the
 * discovered inputs with the coverage of all of them.
 * @param {string} target whose program is built
 * @returns {{ before: number, after: number }} numbers of seeds
 */
export function refresh(target) {
  const before = readdirSync(unpackedSeedsOf(target)).length;
  const folder = mkdtempSync(join(tmpdir(), `fuzz-${target}-`));
  try {
    const merged = join(folder, 'merged');
    mkdirSync(merged);
    const sources = [unpackedSeedsOf(target), regressionsOf(target), discoveredOf(target)];
    const known = sources.filter((path) => existsSync(path));
    mustRun(programOf(target, 'checked'), ['-merge=1', '-detect_leaks=0', merged, ...known]);
    packSeeds(merged, seedArchiveOf(target));
    return { before, after: readdirSync(merged).length };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Packs the files of a folder. The same files give the same archive, byte for byte.
 * @param {string} folder
 * @param {string} archive
 */
export function packSeeds(folder, archive) {
  const files = readdirSync(folder).sort();
  if (files.length === 0) throw new Error(`${folder} has no seeds: an empty archive would replay nothing`);
  writeFileSync(archive, zip(files.map((name) => ({ name, data: readFileSync(join(folder, name)) }))));
}

/**
 * The names of the seeds in an archive.
 * @param {string} archive
 */
export function seedNames(archive) {
  if (!statSync(archive).isFile()) throw new Error(`${archive} is no file`);
  const names = outputOf('cmake', ['-E', 'tar', 'tf', archive]);
  if (names === undefined) throw new Error(`${archive} is no zip archive that CMake can read`);
  return names.split('\n').filter((name) => name !== '');
}
