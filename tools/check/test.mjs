// `npm test`: sets up, runs every check and every test, and ends with what failed and one line that says how many passed.
import process from 'node:process';
import { runProgram } from '../setup/src/program.mjs';
import { setUp } from '../setup/src/set-up.mjs';
import { exitStatus, laterStatus } from '../setup/src/shell.mjs';
import { withSecondAttempt } from './src/report/second-attempt.mjs';
import { expectedSuites, removeOldReports, resultOf } from './src/report/suites.mjs';
import { add, describe } from './src/report/tally.mjs';

/**
 * Two chains of checks, of much the same length, side by side with the tests. Those wait for networks and clocks half of
 * the time, which the checks fill: at the lowest priority, so that they take no time from a test.
 */
const chains = [
  ['lint:js', 'lint:types', 'lint:package', 'lint:api'],
  [
    'lint:examples',
    'lint:docs',
    'lint:rooms',
    'lint:unused',
    'lint:cpp',
    'lint:naming',
    'lint:spelling',
    'site',
    'format:check',
  ],
];

/** `npm test -- --strict`: a test that fails has failed, however a second attempt would end. */
const strict = process.argv.includes('--strict');

/** @param {NodeJS.ProcessEnv} env */
async function runEverything(env) {
  removeOldReports();
  // The set-up has built everything. Without --only, turbo would write the same files again, under running tests.
  const turbo = ['run', '--only', '--output-logs=new-only', '--continue=dependencies-successful'];
  const statuses = chains.map((checks) =>
    laterStatus('nice', ['-n', '19', 'turbo', ...turbo, '--concurrency=1', ...checks], { env }),
  );
  // One suite after the other: they share the loopback addresses, and each uses all processors already.
  const testsFailed = exitStatus('turbo', [...turbo, '--concurrency=1', 'test'], { env }) !== 0;
  const checksFailed = (await Promise.all(statuses)).some((status) => status !== 0);

  const results = expectedSuites().map((suite) => ({ name: suite.name, ...judge(suite, env) }));
  console.log();
  for (const result of results) {
    console.log(`${result.name}: ${describe(result)}`);
    for (const name of result.skipped) console.log(`  skipped: ${name}`);
  }
  for (const { name, failures, unsteady } of results) {
    for (const failure of unsteady) tell(`UNSTEADY in ${name}, passed alone at the second attempt`, failure);
    for (const failure of failures) tell(`FAILED in ${name}`, failure);
  }
  const total = add(results);
  const unexplained = testsFailed && results.every((result) => result.failed === 0 && result.unsteady.length === 0);
  if (unexplained) console.log('\na command of the tests failed, though no report has a failure; see above');
  if (checksFailed) console.log('\nchecks: failed (types, lint or format; see above)');
  console.log(`\n${describe(total)}`);
  return checksFailed || unexplained || total.failed > 0 ? 1 : 0;
}

/**
 * @param {import('./src/report/suites.mjs').Suite} suite
 * @param {NodeJS.ProcessEnv} env
 */
function judge(suite, env) {
  const first = resultOf(suite);
  if (strict) return { ...first, unsteady: [] };
  return withSecondAttempt(suite, first, (command, cwd) => {
    console.log(`\n${suite.name}: a second attempt for what failed`);
    exitStatus('pnpm', ['exec', ...command], { env, cwd });
  });
}

/**
 * @param {string} what
 * @param {import('./src/report/tally.mjs').Failure} failure
 */
function tell(what, { name, why }) {
  console.log(`\n${what}: ${name}\n${why.replaceAll(/^/gm, '    ')}`);
}

await runProgram('test', () => runEverything(setUp({ forTests: true })));
