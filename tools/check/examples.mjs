// `npm run lint:examples`: every `@example` in the packages' sources compiles, and every program of a README.
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../setup/src/paths.mjs';
import { checkExamples } from './src/examples/program.mjs';
import { checkDocuments } from './src/examples/readme.mjs';

const names = readdirSync(join(root, 'packages'));
const packages = names
  .map((name) => join(root, 'packages', name))
  .filter((each) => existsSync(join(each, 'src/index.ts')));
const tsconfig = join(root, 'tools/check/examples/tsconfig.json');
const documents = [root, ...packages].map((folder) => join(folder, 'README.md'));
const examples = checkExamples(tsconfig, packages);
const programs = checkDocuments(tsconfig, documents);
const findings = [...examples.findings, ...programs.findings];
for (const { file, line, message } of findings) console.error(`${relative(root, file)}:${line}: ${message}`);
console.log(`examples: ${examples.count} compiled, ${programs.count} programs of documents, ${findings.length} errors`);
process.exitCode = findings.length === 0 ? 0 : 1;
