// `npm test`: sets up, runs every check and every test, and ends with what each took, what failed, and one line that says
// how many passed.
import { readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from './src/reliability/table.mjs';
import { packageDirectories, root } from '../setup/src/paths.mjs';
import { Problem } from '../setup/src/problem.mjs';
import { setUp } from '../setup/src/set-up.mjs';
import { exitStatus, outputOf } from '../setup/src/shell.mjs';
import { chains } from './src/checks.mjs';
import { runCommand } from './src/command.mjs';
import { measured } from './src/measured.mjs';
import { withSecondAttempt } from './src/report/second-attempt.mjs';
import { described, keysOf, notePassed, passedAt } from './src/report/passed.mjs';
import { expectedSuites, removeOldReports, resultOf } from './src/report/suites.mjs';
import { add, describe } from './src/report/tally.mjs';

const usage = `Usage: npm test [-- [PACKAGE…] [--changed] [--again] [--strict]]

Every check and every test. With names of packages (hbl, soft, cli), only their tests, without the checks. The tests of a
package that passed with the same content before do not run again.

  PACKAGE    the name of a package's folder
  --changed  the packages with changes since the last commit
  --again    run what passed before as well
  --strict   a test that fails has failed, however a second attempt would end
  --help     print this text`;

/** The set-up has built everything. Without --only, turbo would write the same files again, under running tests. */
const turbo = ['run', '--only', '--output-logs=new-only', '--concurrency=1'];

/** @param {string[]} args */
function readOptions(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      changed: { type: 'boolean', default: false },
      again: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  return { ...values, names: positionals };
}

/** The folders of the packages that have tests. */
function testedPackages() {
  return packageDirectories().filter((directory) => {
    /** @type {{ scripts?: Record<string, string> }} */
    const { scripts } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    return scripts?.['test'] !== undefined;
  });
}

/**
 * The folders of the packages whose tests are asked for.
 * @param {{ names: string[], changed: boolean }} options
 */
function chosenPackages({ names, changed }) {
  const all = testedPackages();
  const unknown = names.find((name) => !all.some((directory) => basename(directory) === name));
  if (unknown !== undefined) {
    throw new Problem(`no package ${unknown}: there are ${all.map((directory) => basename(directory)).join(', ')}`);
  }
  if (!changed) return names.length === 0 ? all : all.filter((directory) => names.includes(basename(directory)));
  const files = outputOf('git', ['status', '--porcelain', '--no-renames', '-uall'])?.split('\n') ?? [];
  const paths = files.map((line) => line.slice(3));
  const chosen = all.filter((directory) => {
    const folder = `${relative(root, directory)}/`;
    return names.includes(basename(directory)) || paths.some((path) => path.startsWith(folder));
  });
  if (chosen.length === 0) throw new Problem('no package has changes since the last commit');
  return chosen;
}

/** @param {ReturnType<typeof readOptions>} options */
async function test(options) {
  const packages = chosenPackages(options);
  const withChecks = options.names.length === 0 && !options.changed;
  const env = setUp({ forTests: true });
  const suites = expectedSuites().filter(({ directory }) => packages.includes(directory));
  const keys = keysOf(outputOf('turbo', ['run', 'test', '--dry=json'], { env }));
  const passed = (options.again ? [] : packages).flatMap((directory) => {
    const at = passedAt(directory, keys.get(directory), suites);
    return at === undefined ? [] : [{ directory, at }];
  });
  const due = packages.filter((directory) => !passed.some((known) => known.directory === directory));
  removeOldReports(due);

  /** @type {{ name: string, processor: number, seconds: number }[]} */
  const costs = [];
  /** @param {string} name @param {string} command @param {string[]} args */
  const run = async (name, command, args) => {
    const { status, processor, seconds } = await measured(command, args, { env, cwd: root });
    costs.push({ name, processor, seconds });
    return status === 0;
  };
  /** @param {string[]} checks */
  const runChecks = async (checks) => {
    /** @type {string[]} */
    const failed = [];
    for (const check of checks)
      if (!(await run(check, 'nice', ['-n', '19', 'turbo', ...turbo, check]))) failed.push(check);
    return failed;
  };

  // At the lowest priority, so that they take no time from a test.
  const checking = (withChecks ? chains : []).map(runChecks);
  // One suite after the other: they share the loopback addresses, and each uses all processors already.
  /** @type {Set<string>} */
  const failedPackages = new Set();
  for (const directory of due) {
    const name = `./${relative(root, directory)}`;
    notePassed(directory, undefined);
    if (!(await run(relative(root, directory), 'turbo', [...turbo, '--filter', name, 'test'])))
      failedPackages.add(directory);
  }
  const checksFailed = (await Promise.all(checking)).flat();

  const results = suites.map((suite) => ({ ...suite, ...judge(suite, env, options.strict) }));
  for (const directory of due) {
    const own = results.filter((result) => result.directory === directory);
    const clean = own.every(({ failed, unsteady }) => failed === 0 && unsteady.length === 0);
    if (clean && !failedPackages.has(directory)) notePassed(directory, keys.get(directory));
  }
  console.log(`\n${describeCosts(costs)}\n`);
  for (const known of passed) console.log(described(known));
  for (const result of results) {
    console.log(`${result.name}: ${describe(result)}`);
    for (const name of result.skipped) console.log(`  skipped: ${name}`);
  }
  for (const { name, failures, unsteady } of results) {
    for (const failure of unsteady) tell(`UNSTEADY in ${name}, passed alone at the second attempt`, failure);
    for (const failure of failures) tell(`FAILED in ${name}`, failure);
  }
  const total = add(results);
  const silent = [...failedPackages].filter((directory) =>
    results.every((result) => result.directory !== directory || (result.failed === 0 && result.unsteady.length === 0)),
  );
  if (silent.length > 0) {
    const names = silent.map((directory) => relative(root, directory)).join(', ');
    console.log(`\nthe command of the tests failed, though no report has a failure (see above): ${names}`);
  }
  if (checksFailed.length > 0) console.log(`\nchecks that failed (see above): ${checksFailed.join(', ')}`);
  const before =
    passed.length === 0
      ? ''
      : `, of which the tests of ${passed.map(({ directory }) => basename(directory)).join(', ')} at an earlier run`;
  console.log(`\n${describe(total)}${before}`);
  return checksFailed.length > 0 || silent.length > 0 || total.failed > 0 ? 1 : 0;
}

/**
 * What each suite and check took, the most first, with its share of all.
 * @param {{ name: string, processor: number, seconds: number }[]} costs
 */
function describeCosts(costs) {
  const sum = costs.reduce((total, { processor }) => total + processor, 0);
  const lines = costs
    .toSorted((a, b) => b.processor - a.processor)
    .map(({ name, processor, seconds }) => [
      name,
      Math.round(processor),
      Math.round((100 * processor) / sum),
      Math.round(seconds),
    ]);
  const rows = table(['suite or check', 'processor s', '%', 'took s'], lines);
  return `${rows}\n\nall of them: ${(sum / 60).toFixed(1)} minutes of processor time, after the set-up`;
}

/**
 * @param {import('./src/report/suites.mjs').Suite} suite
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} strict
 */
function judge(suite, env, strict) {
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

await runCommand({ name: 'test', usage, read: readOptions, run: test });
