// `npm run lint docs`: every file and folder that a document names exists.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from '../setup/src/paths.mjs';
import { mustFind } from '../setup/src/problem.mjs';
import { namedPaths, pathFinder } from './src/docs/named-paths.mjs';

const notOurs = new Set(['node_modules', 'build', 'dist', 'test-results', '.git', '.turbo', '.tools']);

/**
 * @param {string} directory
 * @returns {string[]} every file in it, relative to the root
 */
function walk(directory) {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => !notOurs.has(entry.name))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? walk(path) : [relative(root, path)];
    });
}

const files = walk(root);
const exists = pathFinder(files);
const documents = files.filter((file) =>
  /^([A-Z]+|docs\/.*|examples\/(.*\/)?README|(packages|trials|tools)\/[^/]+\/(README|native\/.*))\.md$/.test(file),
);
let count = 0;
let missing = 0;
for (const document of documents) {
  const directory = dirname(document) === '.' ? '' : dirname(document);
  const [packageDirectory] = /^(examples\/apps\/[^/]+|examples|(packages|trials|tools)\/[^/]+)/.exec(document) ?? [];
  for (const { path, line } of namedPaths(readFileSync(join(root, document), 'utf8'), directory, packageDirectory)) {
    ++count;
    if (exists(path)) continue;
    ++missing;
    console.error(`${document}:${line}: there is no ${path}`);
  }
}
mustFind(count, 'paths in documents');
console.log(`docs: ${documents.length} documents name ${count} paths, ${missing} of them missing`);
process.exitCode = missing === 0 ? 0 : 1;
