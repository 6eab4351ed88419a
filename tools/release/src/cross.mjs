import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installMissing } from '../../setup/src/debian.mjs';
import { root } from '../../setup/src/paths.mjs';
import { say } from '../../setup/src/say.mjs';
import { mustRun } from '../../setup/src/shell.mjs';
import { readManifest } from './packages.mjs';
import { addPrebuilt } from './prebuild.mjs';

/** @import { Package } from './packages.mjs' */

/** Where the packages are built for arm64, as if they were installed there. */
const home = join(root, 'build/arm64');
const include = join(home, 'include');
export const toolchain = join(home, 'toolchain.cmake');
/** Libraries for arm64 besides those of the compiler, if there are any. */
export const crossLibraries = join(home, 'lib');

/** The prefix of Debian's tools for arm64. */
const arm64Tools = 'aarch64-linux-gnu-';

/**
 * Builds the native part of packages for arm64 with Debian's cross compiler, by the command that users build with.
 * @param {Package[]} packages those with a native part
 * @param {NodeJS.ProcessEnv} env
 * @returns {Map<string, string>} the folder of each package's build, by name
 */
function crossBuild(packages, env) {
  installMissing(['binutils-aarch64-linux-gnu', 'g++-aarch64-linux-gnu', 'gcc-aarch64-linux-gnu']);
  copySources(packages);
  writeToolchain();
  const order = [...packages].sort((a, b) => rank(a) - rank(b));
  return new Map(
    order.map(({ name, folder }) => {
      const copy = join(home, 'node_modules', name);
      say('arm64', `building ${name}`);
      const command = readManifest(folder).scripts?.['build:native'] ?? '';
      mustRun('sh', ['-c', command], { cwd: copy, env: crossEnvironment(folder, env) });
      return [name, copy];
    }),
  );
}

/**
 * Adds the files for arm64 to `prebuilds/` of the packages.
 * @param {Package[]} packages those with a native part
 * @param {NodeJS.ProcessEnv} env
 */
export function prebuildArm64(packages, env) {
  const builds = crossBuild(packages, env);
  return packages.map((each) => {
    const from = builds.get(each.name) ?? '';
    return { name: each.name, files: addPrebuilt(each, { from, arch: 'arm64', tools: arm64Tools }) };
  });
}

/** The models need the software NIC's CMake files only, but @verbs/soft is what all run on. @param {Package} package_ */
function rank({ name }) {
  return name === '@verbs/soft' ? 0 : 1;
}

/** @param {Package[]} packages */
function copySources(packages) {
  for (const { name, folder } of packages) {
    const copy = join(home, 'node_modules', name);
    mkdirSync(copy, { recursive: true });
    rmSync(join(copy, 'native'), { recursive: true, force: true });
    const skipped = /\/native\/(test|fuzz)$|\/binding\/build$|\/node_modules$/;
    cpSync(join(folder, 'native'), join(copy, 'native'), {
      recursive: true,
      preserveTimestamps: true,
      filter: (path) => !skipped.test(path),
    });
    cpSync(join(folder, 'package.json'), join(copy, 'package.json'));
    const headers = join(folder, 'node_modules/node-addon-api');
    const link = join(home, 'node_modules/node-addon-api');
    if (existsSync(headers) && !existsSync(link)) symlinkSync(realpathSync(headers), link);
  }
}

function writeToolchain() {
  mkdirSync(include, { recursive: true });
  // The headers of libibverbs are the same for all processors; those of the C library are not.
  for (const folder of ['infiniband', 'rdma', 'doctest']) {
    const [from, to] = [join('/usr/include', folder), join(include, folder)];
    if (existsSync(from) && !existsSync(to)) symlinkSync(from, to);
  }
  const text = `set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER ${arm64Tools}gcc)
set(CMAKE_CXX_COMPILER ${arm64Tools}g++)
set(CMAKE_C_FLAGS_INIT "-isystem ${include}")
set(CMAKE_CXX_FLAGS_INIT "-isystem ${include}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${crossLibraries}")
set(CMAKE_LIBRARY_PATH "${crossLibraries}")
`;
  // Written only if it changed: CMake configures anew after each write.
  if (!existsSync(toolchain) || readFileSync(toolchain, 'utf8') !== text) writeFileSync(toolchain, text);
}

/**
 * @param {string} folder of the package in the workspace, which has its node-gyp
 * @param {NodeJS.ProcessEnv} env
 */
function crossEnvironment(folder, env) {
  return {
    ...env,
    PATH: [join(folder, 'node_modules/.bin'), env['PATH'] ?? ''].join(delimiter),
    CMAKE_TOOLCHAIN_FILE: toolchain,
    CC: `${arm64Tools}gcc`,
    CXX: `${arm64Tools}g++`,
    CXXFLAGS: `-isystem ${include}`,
    npm_config_arch: 'arm64',
  };
}
