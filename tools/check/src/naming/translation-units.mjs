import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageDirectories, root } from '../../../setup/src/paths.mjs';
import { fileLocalNames } from './file-local-names.mjs';
import { canBeNumbered } from './unit-text.mjs';

/**
 * C++ sources that are read as one translation unit, and how they are compiled.
 * @typedef {{ sources: string[], options: string[] }} TranslationUnit
 */

/** Folders of native code that have translation units of their own. */
const apart = ['binding', 'model/dropin', 'system'];

/**
 * Sources that do not compile after others of their package: a function that they call, or define, has an overload there.
 * Others like them are found, but only after the whole unit was read for nothing.
 */
const alone = [
  'packages/mlx5/native/model/devx/async.cc',
  'packages/mlx5/native/model/dr/action.cc',
  'packages/mlx5/native/model/library/exports.cc',
  'packages/soft/native/nic/verbs/data_path.cc',
  'trials/uverbs/native/kernel/write_commands.cc',
].map((path) => join(root, path));

/** The tests are left out, as by clang-tidy's other checks: their framework is all macros. */
const leftOut = ['test', 'fuzz', 'bench'];

/**
 * All C++ sources of the packages in as few translation units as possible. clang-tidy spends nearly all of its time in
 * the headers of the system: read one by one, the sources take twenty times as long. Sources share a unit unless two of
 * them declare the same file-local name, and it cannot be numbered.
 * @param {NodeJS.ProcessEnv} env
 * @returns {TranslationUnit[]}
 */
export function translationUnits(env) {
  return packageDirectories()
    .map((directory) => join(directory, 'native'))
    .filter((native) => existsSync(native))
    .flatMap((native) => {
      const options = compilerOptions(native, env);
      const folders = apart.map((name) => join(native, name));
      const skip = [...folders, ...leftOut.map((name) => join(native, name))];
      const sources = sourcesIn(native, skip);
      const together = sources.filter((source) => !alone.includes(source));
      const groups = [together, ...folders.map((folder) => sourcesIn(folder, []))].flatMap(grouped);
      return [...groups, ...alone.filter((source) => sources.includes(source)).map((source) => [source])].map(
        (sources) => ({ sources, options }),
      );
    });
}

/**
 * @param {string} native
 * @param {NodeJS.ProcessEnv} env
 */
function compilerOptions(native, env) {
  const nodeAddonApi = createRequire(join(root, 'packages/core/package.json')).resolve('node-addon-api/package.json');
  const folders = [
    native,
    join(native, 'include'),
    join(root, 'packages/core/native/include'),
    join(root, 'packages/soft/native/include'),
    join(env['npm_config_nodedir'] ?? '/usr', 'include/node'),
    join(nodeAddonApi, '..'),
  ];
  const defines = ['_GNU_SOURCE', 'NAPI_VERSION=9', 'NODE_ADDON_API_CPP_EXCEPTIONS_ALL', 'BUILDING_NODE_EXTENSION'];
  return ['-std=c++20', '-w', ...defines.map((define) => `-D${define}`), ...folders.map((folder) => `-I${folder}`)];
}

/**
 * @param {string} folder
 * @param {string[]} skip
 * @returns {string[]}
 */
function sourcesIn(folder, skip) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter(
      (entry) => entry.name !== 'build' && entry.name !== 'node_modules' && !skip.includes(join(folder, entry.name)),
    )
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return sourcesIn(path, skip);
      return entry.name.endsWith('.cc') ? [path] : [];
    })
    .sort();
}

/**
 * Each source goes to the first group that has none of its file-local names but those that can be numbered.
 * @param {string[]} sources
 */
function grouped(sources) {
  /** @type {{ sources: string[], names: Set<string> }[]} */
  const groups = [];
  for (const source of sources) {
    const text = readFileSync(source, 'utf8');
    const names = fileLocalNames(text);
    const group = groups.find((candidate) =>
      names.every((name) => !candidate.names.has(name) || canBeNumbered(name, text)),
    );
    if (group === undefined) {
      groups.push({ sources: [source], names: new Set(names) });
    } else {
      group.sources.push(source);
      for (const name of names) group.names.add(name);
    }
  }
  return groups.map((group) => group.sources);
}
