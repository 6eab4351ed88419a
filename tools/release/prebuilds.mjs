// `npm run prebuilds`: what the packages bring for machines without compilers.
import { parseArgs } from 'node:util';
import { setUp } from '../setup/src/set-up.mjs';
import { runCommand } from '../check/src/command.mjs';
import { publishedPackages } from './src/packages.mjs';
import { prebuildArm64 } from './src/cross.mjs';
import { prebuild, target } from './src/prebuild.mjs';

const usage = `Usage: npm run prebuilds -- [--arm64] [--json]

Builds everything, and fills prebuilds/ of each package with stripped files for this machine (${target}).
The debug symbols are put into build/debug/ of the package. Fails if a file needs a newer system library than supported
distributions have.

  --arm64  add the files for arm64, built with Debian's cross compiler
  --json   print the files, their sizes and the versions that they need as JSON
  --help   print this text`;

/** @param {string[]} args */
function readOptions(args) {
  return parseArgs({
    args,
    options: {
      arm64: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  }).values;
}

/** @param {ReturnType<typeof readOptions>} options */
function prebuildAll({ arm64, json }) {
  const env = setUp({ forTests: false });
  const packages = publishedPackages().filter(({ native }) => native);
  const own = packages.map((each) => ({ name: each.name, files: prebuild(each) }));
  const all = arm64 ? [...own, ...prebuildArm64(packages, env)] : own;
  if (json) console.log(JSON.stringify(all, undefined, 2));
  else {
    for (const { name, files } of all) {
      console.log(name);
      for (const { file, bytes, needs } of files) {
        const versions = Object.entries(needs).map(([family, version]) => `${family}_${version}`);
        console.log(`  ${String(bytes).padStart(8)}  ${file}  ${versions.sort().join(' ')}`);
      }
    }
  }
  return 0;
}

await runCommand({ name: 'prebuilds', usage, read: readOptions, run: prebuildAll });
