// `npm run lint:types`: the compiler's check of every TypeScript project of the repository.
import { readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { root } from '../setup/src/paths.mjs';
import { projectChecker } from './src/types/project-checker.mjs';

const notOurs = new Set(['node_modules', 'build', 'dist', 'test-results', '.git', '.turbo', '.tools']);

/** What `npm run lint:examples` fills in and checks. */
const examples = join(root, 'tools/check/examples/tsconfig.json');

/**
 * @param {string} directory
 * @returns {string[]}
 */
function configsIn(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return notOurs.has(entry.name) ? [] : configsIn(path);
    return entry.name === 'tsconfig.json' && path !== examples ? [path] : [];
  });
}

const check = projectChecker();
const configs = configsIn(root).sort();
let files = 0;
let count = 0;
for (const config of configs) {
  const { files: ofProject, errors } = check(config);
  files += ofProject;
  count += errors.length;
  for (const error of errors) console.error(`${relative(root, dirname(config)) || '.'}: ${error}`);
}
console.log(`types: ${configs.length} projects, ${files} files, ${count} errors`);
process.exitCode = count === 0 ? 0 : 1;
