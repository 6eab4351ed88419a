// `npm test`: sets up, runs every check and every test, and ends with one line that says how many passed.
import { runProgram } from '../setup/src/program.mjs';
import { setUp } from '../setup/src/set-up.mjs';
import { exitStatus } from '../setup/src/shell.mjs';
import { expectedSuites, removeOldReports, resultOf } from './src/report/suites.mjs';
import { add, describe } from './src/report/tally.mjs';

const checks = [
  'typecheck',
  'typecheck:root',
  'lint:js',
  'lint:package',
  'lint:examples',
  'lint:docs',
  'lint:rooms',
  'lint:unused',
  'api:check',
  'lint:cpp',
  'lint:naming',
  'docs',
  'format:check',
];

/** @param {NodeJS.ProcessEnv} env */
function runEverything(env) {
  removeOldReports();
  const turbo = ['run', '--output-logs=new-only', '--continue=dependencies-successful'];
  const checksFailed = exitStatus('turbo', [...turbo, ...checks], { env }) !== 0;
  // One suite after the other: they share the loopback addresses, and each uses all processors already.
  const testsFailed = exitStatus('turbo', [...turbo, '--concurrency=1', 'test'], { env }) !== 0;

  const results = expectedSuites().map((suite) => ({ name: suite.name, ...resultOf(suite) }));
  console.log();
  for (const result of results) {
    console.log(`${result.name}: ${describe(result)}${result.remark === undefined ? '' : ` (${result.remark})`}`);
    for (const name of result.skipped) console.log(`  skipped: ${name}`);
  }
  const total = add(results);
  if (checksFailed) console.log('checks: failed (types, lint or format; see above)');
  console.log(`\n${describe(total)}`);
  return checksFailed || testsFailed || total.failed > 0 ? 1 : 0;
}

await runProgram('test', () => runEverything(setUp({ forTests: true })));
