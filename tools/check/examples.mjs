// `npm run lint examples`: every `@example` in the packages' sources compiles, and all code of READMEs and guides.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { libraryPackages } from '../setup/src/packages.mjs';
import { root } from '../setup/src/paths.mjs';
import { mustFind } from '../setup/src/problem.mjs';
import { checkExamples } from './src/examples/program.mjs';
import { checkDocuments, codeOf } from './src/examples/readme.mjs';

const packages = libraryPackages().map(({ folder }) => folder);
const tsconfig = join(root, 'tools/check/examples/tsconfig.json');
const guides = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.md'),
);
const documents = [
  ...[root, ...packages].map((folder) => join(folder, 'README.md')),
  ...guides.map((name) => join(root, 'docs', name)),
];
// Only in a package's README it is known which names a fragment takes for granted.
const lost = documents
  .filter((file) => !packages.includes(dirname(file)))
  .flatMap((file) => codeOf(file, readFileSync(file, 'utf8')).fragments)
  .map(({ file, line }) => ({
    file,
    line,
    message: 'this code imports nothing: make it a program, so that it can be checked',
  }));
const examples = checkExamples(tsconfig, packages);
const programs = checkDocuments(tsconfig, documents);
const findings = [...examples.findings, ...programs.findings, ...lost];
for (const { file, line, message } of findings) console.error(`${relative(root, file)}:${line}: ${message}`);
mustFind(examples.count, 'examples');
mustFind(programs.count, 'programs of documents');
console.log(`examples: ${examples.count} compiled, ${programs.count} programs of documents, ${findings.length} errors`);
process.exitCode = findings.length === 0 ? 0 : 1;
