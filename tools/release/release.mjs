// `npm run release`: builds, checks, packs and installs what would be published, and prints it. It publishes only when told.
import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCommand } from '../check/src/command.mjs';
import { root } from '../setup/src/paths.mjs';
import { Problem } from '../setup/src/problem.mjs';
import { setUp } from '../setup/src/set-up.mjs';
import { exitStatus, mustRun, outputOf } from '../setup/src/shell.mjs';
import { makeArchive } from './src/archive.mjs';
import { prebuildArm64 } from './src/cross.mjs';
import { tarballLimits } from './src/limits.mjs';
import { pack } from './src/pack.mjs';
import { publishedPackages } from './src/packages.mjs';
import { prebuild } from './src/prebuild.mjs';
import { publishingOrder, releaseTable } from './src/table.mjs';

const usage = `Usage: npm run release -- [--publish] [--no-test] [--no-arm64]

Builds everything, tests the packed packages in empty projects, and prints what would be published: packages, versions,
sizes, contents. The archives are left in build/release/.

  --publish  publish them, with provenance: only in continuous integration, and from a commit without changes
  --no-test  leave out the tests of the packed packages
  --no-arm64 leave out the files for arm64, which Debian's cross compiler builds
  --help     print this text`;

const archives = join(root, 'build/release');

/** @param {string[]} args */
function readOptions(args) {
  const options = /** @type {const} */ ({
    publish: { type: 'boolean', default: false },
    'no-test': { type: 'boolean', default: false },
    'no-arm64': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  const { values } = parseArgs({ args, options });
  if (values.publish && values['no-test']) throw new TypeError('--publish: nothing is published without its tests');
  if (values.publish && values['no-arm64']) throw new TypeError('--publish: what is published is for all machines');
  return values;
}

/** @param {ReturnType<typeof readOptions>} options */
function release({ publish, 'no-test': untested, 'no-arm64': here }) {
  if (publish) mayPublish();
  const env = setUp({ forTests: !untested });
  if (!untested) {
    const folder = dirname(fileURLToPath(import.meta.url));
    const long = { ...env, VERBS_PACKED_LONG: '1' };
    if (exitStatus('vitest', ['run'], { cwd: folder, env: long }) !== 0)
      throw new Problem('the packed packages fail their tests');
  }
  rmSync(archives, { recursive: true, force: true });
  const packages = publishedPackages();
  const native = packages.filter((each) => each.native);
  for (const each of native) prebuild(each);
  if (!here) prebuildArm64(native, env);
  const tarballs = publishingOrder(packages.map((each) => pack(each, archives, env)));
  console.log(releaseTable(tarballs));
  for (const arch of here ? [process.arch] : [process.arch, 'arm64']) {
    const { path, bytes } = makeArchive(native, { arch, into: archives });
    console.log(`\nwithout Node.js: ${basename(path)}, ${(bytes / 1000).toFixed(0)} kB`);
  }
  const large = tarballs.filter(({ manifest, bytes }) => bytes > tarballLimits(manifest.name, here ? 1 : 2));
  if (large.length > 0) throw new Problem(`too large: ${large.map(({ manifest }) => manifest.name).join(', ')}`);
  if (!publish) {
    console.log(`\nnothing is published; the archives are in ${archives}`);
    return 0;
  }
  for (const { path } of tarballs) mustRun('npm', ['publish', path, '--provenance', '--access', 'public'], { env });
  return 0;
}

/** A release is made of a commit, by a machine that can prove where it comes from. */
function mayPublish() {
  if (process.env['GITHUB_ACTIONS'] !== 'true') throw new Problem('--publish works only in the release workflow');
  if (outputOf('git', ['status', '--porcelain']) !== '')
    throw new Problem('--publish: there are changes that are not committed');
}

await runCommand({ name: 'release', usage, read: readOptions, run: release });
