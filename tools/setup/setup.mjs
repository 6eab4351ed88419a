import process from 'node:process';
import { Problem } from './src/problem.mjs';
import { setUp } from './src/set-up.mjs';

const usage = `Usage: npm run setup [-- --test]

Makes this checkout ready: Debian packages, pnpm, node_modules, Node's headers, and the build.
It may be run again at any time; what is there already is left alone.

  --test   also install what only the tests need
  --help   print this text`;

const args = process.argv.slice(2);
const unknown = args.find((arg) => arg !== '--test' && arg !== '--help');
if (unknown !== undefined) {
  console.error(`setup: unknown argument '${unknown}'\n\n${usage}`);
  process.exitCode = 2;
} else if (args.includes('--help')) {
  console.log(usage);
} else {
  try {
    setUp({ forTests: args.includes('--test') });
    console.error('setup: ready. Try `npx verbs devices`, `npm run demo` or `npm test`.');
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    console.error(`\nsetup: ${error.message}`);
    process.exitCode = 1;
  }
}
