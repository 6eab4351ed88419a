import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import process from 'node:process';
import { Problem } from '../../setup/src/problem.mjs';
import { mustRun, outputOf } from '../../setup/src/shell.mjs';
import { neededVersions, tooNew } from './symbols.mjs';

/** @import { Package } from './packages.mjs' */

/** The name of a machine that is built for, by its processor. @param {string} arch */
export const targetOf = (arch) => `linux-${arch}-glibc`;

/** The machine that this runs on. */
export const target = targetOf(process.arch);

/**
 * A file of `prebuilds/`.
 * @typedef {object} Prebuilt
 * @property {string} file its path in the package
 * @property {number} bytes
 * @property {ReturnType<typeof neededVersions>} needs
 */

/**
 * Fills `prebuilds/` of a package from what its build left, stripped, and removes what is there for other machines. The
 * debug symbols go to `build/debug/`, for gdb's `set debug-file-directory`.
 * @param {Package} package_
 * @param {{ forOthers?: boolean }} [options] false: they are for this machine only, and may need what it has
 * @returns {Prebuilt[]}
 */
export function prebuild(package_, options = {}) {
  rmSync(join(package_.folder, 'prebuilds'), { recursive: true, force: true });
  return addPrebuilt(package_, { from: package_.folder, arch: process.arch, ...options });
}

/**
 * Adds the files for one machine to `prebuilds/` of a package.
 * @param {Package} package_
 * @param {{ from: string, arch: string, tools?: string, forOthers?: boolean }} build `from` is the folder that the package was
 *   built in; `tools` is the prefix of the programs that read its files
 * @returns {Prebuilt[]}
 */
export function addPrebuilt({ name, folder }, { from, arch, tools = '', forOthers = true }) {
  const built = builtFiles(from);
  if (built.length === 0) throw new Problem(`${name} is not built: npm run build`);
  const into = join(folder, 'prebuilds', targetOf(arch));
  const debug = join(folder, 'build/debug', targetOf(arch));
  for (const each of [into, debug]) {
    rmSync(each, { recursive: true, force: true });
    mkdirSync(join(each, 'dropin'), { recursive: true });
  }
  const files = built.map(({ path, place }) => {
    strip(tools, path, join(into, place), join(debug, `${place}.debug`));
    const file = describe(tools, folder, join(into, place));
    if (forOthers) refuseTooNew(file);
    return file;
  });
  if (readdirSync(join(into, 'dropin')).length === 0) rmSync(join(into, 'dropin'), { recursive: true });
  return files;
}

/**
 * The addon, the libraries beside it, and those of the drop-in directory; without links, which a package cannot hold.
 * @param {string} folder
 */
function builtFiles(folder) {
  const folders = [
    { from: join(folder, 'build/lib'), to: '' },
    { from: join(folder, 'build/lib/dropin'), to: 'dropin' },
    { from: join(folder, 'native/binding/build/Release'), to: '' },
  ];
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const { from, to } of folders) {
    if (!existsSync(from)) continue;
    for (const file of readdirSync(from).sort()) {
      const path = join(from, file);
      const place = join(to, file);
      if (/\.(node|so(\.\d+)*)$/.test(file) && lstatSync(path).isFile() && !found.has(place)) found.set(place, path);
    }
  }
  return [...found].map(([place, path]) => ({ place, path }));
}

/**
 * @param {string} tools
 * @param {string} from
 * @param {string} to
 * @param {string} symbols
 */
function strip(tools, from, to, symbols) {
  mustRun(`${tools}objcopy`, ['--only-keep-debug', from, symbols]);
  mustRun(`${tools}objcopy`, [
    '--strip-unneeded',
    '--remove-section=.comment',
    `--add-gnu-debuglink=${symbols}`,
    from,
    to,
  ]);
}

/**
 * @param {string} tools
 * @param {string} folder
 * @param {string} path
 * @returns {Prebuilt}
 */
function describe(tools, folder, path) {
  const text = outputOf(`${tools}objdump`, ['-T', path]);
  if (text === undefined) throw new Problem(`objdump cannot read ${path}`);
  return { file: relative(folder, path), bytes: statSync(path).size, needs: neededVersions(text) };
}

/** @param {Prebuilt} prebuilt */
function refuseTooNew({ file, needs }) {
  const wrong = tooNew(needs);
  if (wrong.length === 0) return;
  throw new Problem(
    `${file} needs ${wrong.join(', ')}, which supported distributions lack: build on Debian 12, or find the symbol with ` +
      '"objdump -T" and do without it',
  );
}
