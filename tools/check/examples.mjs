// `npm run lint:examples`: every `@example` in the packages' sources compiles.
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../setup/src/paths.mjs';
import { checkExamples } from './src/examples/program.mjs';

const names = readdirSync(join(root, 'packages'));
const packages = names
  .map((name) => join(root, 'packages', name))
  .filter((each) => existsSync(join(each, 'src/index.ts')));
const { count, findings } = checkExamples(join(root, 'tools/check/examples/tsconfig.json'), packages);
for (const { file, line, message } of findings) console.error(`${relative(root, file)}:${line}: ${message}`);
console.log(`examples: ${count} compiled, ${findings.length} errors`);
process.exitCode = findings.length === 0 ? 0 : 1;
