// `npm run setup`: makes this checkout ready for the demo, or with --test for the tests.
import process from 'node:process';
import { runProgram } from './src/program.mjs';
import { setUp } from './src/set-up.mjs';

const usage = `Usage: npm run setup [-- --test]

Makes this checkout ready: Debian packages, pnpm, node_modules, Node's headers, and the build.
It may be run again at any time; what is there already is left alone.

  --test   also install what only the tests need
  --help   print this text`;

/** @param {string[]} args */
function setup(args) {
  const unknown = args.find((arg) => arg !== '--test' && arg !== '--help');
  if (unknown !== undefined) {
    console.error(`setup: unknown argument '${unknown}'\n\n${usage}`);
    return 2;
  }
  if (args.includes('--help')) {
    console.log(usage);
    return 0;
  }
  setUp({ forTests: args.includes('--test') });
  console.error('setup: ready. Try `npx verbs devices`, `npm run demo` or `npm test`.');
  return 0;
}

await runProgram('setup', () => setup(process.argv.slice(2)));
