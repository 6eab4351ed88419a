import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Problem } from '../../setup/src/problem.mjs';
import { outputOf } from '../../setup/src/shell.mjs';
import { readManifest } from './packages.mjs';

/** @import { Manifest, Package } from './packages.mjs' */

/**
 * A package as a registry has it.
 * @typedef {object} Tarball
 * @property {Manifest} manifest as it is in the archive
 * @property {string} path
 * @property {number} bytes
 * @property {string} integrity
 * @property {string[]} files
 */

/**
 * Packs a package of the workspace as it would be published: pnpm replaces `workspace:` and `catalog:`.
 * @param {Package} package_
 * @param {string} into
 * @param {NodeJS.ProcessEnv} env
 * @returns {Tarball}
 */
export function pack({ name, folder }, into, env) {
  mkdirSync(into, { recursive: true });
  const before = new Set(readdirSync(into));
  if (outputOf('pnpm', ['pack', '--pack-destination', into], { cwd: folder, env }) === undefined) {
    throw new Problem(`pnpm pack failed in ${folder}`);
  }
  const made = readdirSync(into).find((file) => !before.has(file));
  if (made === undefined) throw new Problem(`pnpm pack left no archive of ${name}`);
  return tarballAt(join(into, made));
}

/**
 * Packs the installed packages that these need, as they are in the workspace's node_modules: so an installation from
 * them needs no network.
 * @param {Package[]} packages
 * @param {string} into
 * @returns {Tarball[]}
 */
export function packDependencies(packages, into) {
  mkdirSync(into, { recursive: true });
  const own = new Set(packages.map(({ name }) => name));
  /** @type {Map<string, string>} */
  const folders = new Map();
  /** @param {string} folder */
  const visit = (folder) => {
    const { dependencies = {}, optionalDependencies = {} } = readManifest(folder);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (own.has(name) || folders.has(name)) continue;
      const found = installedFolder(folder, name);
      if (found === undefined) continue; // an optional one
      folders.set(name, found);
      visit(found);
    }
  };
  for (const { folder } of packages) visit(folder);
  // Yarn adds it to the dependencies of every package whose scripts name it, as those of node-addon-api do.
  const gyp = packages.map(({ folder }) => installedFolder(folder, 'node-gyp')).find((folder) => folder !== undefined);
  if (gyp !== undefined) {
    folders.set('node-gyp', gyp);
    visit(gyp);
  }
  return [...folders.values()].map((folder) => packInstalled(folder, into));
}

/**
 * @param {string} folder
 * @param {string} name
 */
function installedFolder(folder, name) {
  const places = createRequire(join(folder, 'package.json')).resolve.paths(name) ?? [];
  const found = places.map((place) => join(place, name)).find((place) => existsSync(join(place, 'package.json')));
  return found === undefined ? undefined : realpathSync(found);
}

/**
 * @param {string} folder
 * @param {string} into
 */
function packInstalled(folder, into) {
  const { name, version } = readManifest(folder);
  const path = join(into, `${name.replace('/', '-')}-${version}.tgz`);
  const args = ['-czf', path, '-C', dirname(folder), `--transform=s,^${basename(folder)},package,`, basename(folder)];
  if (outputOf('tar', args) === undefined) throw new Problem(`tar cannot pack ${folder}`);
  return tarballAt(path);
}

/**
 * The archive of a package.
 * @param {string} path
 * @returns {Tarball}
 */
export function tarballAt(path) {
  const content = readFileSync(path);
  const list = outputOf('tar', ['-tzf', path]);
  const manifest = outputOf('tar', ['-xzOf', path, 'package/package.json']);
  if (list === undefined || manifest === undefined) throw new Problem(`${path} is no package`);
  return {
    manifest: /** @type {Manifest} */ (JSON.parse(manifest)),
    path,
    bytes: content.length,
    integrity: `sha512-${createHash('sha512').update(content).digest('base64')}`,
    files: list
      .split('\n')
      .filter((line) => line !== '' && !line.endsWith('/'))
      .map((line) => line.replace(/^package\//, '')),
  };
}
