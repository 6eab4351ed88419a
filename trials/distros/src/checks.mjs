// What is checked in a root, each with a line for the table.
import { softModel as mlx5 } from '@verbs/mlx5';
import { mlx5Bench, runSuite, softBench } from '../../programs/pyverbs/suite.mjs';
import { summarize } from '../../programs/pyverbs/summary.mjs';
import { casesOfReleases } from '../../programs/src/cases/index.mjs';
import { makeMachine } from '../../programs/src/machine.mjs';
import { runCase } from '../../programs/src/pair.mjs';
import { processes } from '../../programs/src/places.mjs';
import { Table } from '../../programs/src/table.mjs';
import { loadCheck } from './load-check.mjs';
import { sortSkips } from './skips.mjs';

/** @import { Release } from './releases.mjs' */
/** @import { Root } from './root.mjs' */
/** @import { SkipCount } from './skips.mjs' */

/**
 * @typedef {object} Result
 * @property {string} check
 * @property {string} text for the table
 * @property {string[]} failures
 * @property {SkipCount[]} [skips] of rdma-core's own tests, by reason
 * @property {string[]} [news] the skips that have no reason in skips.mjs
 */

/** @param {Root} root @returns {Result} */
export function checkLoading(root) {
  const machine = makeMachine();
  try {
    const { files, failures } = loadCheck(root, machine.environment);
    const lines = failures.flatMap(({ file, missing }) => missing.map((line) => `${file}: ${line}`));
    return { check: 'load', text: `${files.length - failures.length} of ${files.length} load`, failures: lines };
  } finally {
    machine.remove();
  }
}

/**
 * rdma-core's own tests of that release, on the plain NIC and on the model of an mlx5 device.
 * @param {Root} root
 * @param {Release} release
 * @param {(text: string) => void} print
 * @returns {Promise<Result>}
 */
export async function checkPyverbs(root, { suite, pyverbs, failing }, print) {
  const failures = [];
  const skips = [];
  const news = [];
  const parts = [];
  for (const [name, bench, least] of /** @type {const} */ ([
    ['soft', softBench, pyverbs.soft],
    ['mlx5', { ...mlx5Bench, models: [mlx5] }, pyverbs.mlx5],
  ])) {
    const outcomes = await runSuite(print, bench, root);
    const known = Object.keys(failing).filter((test) => outcomes[test]?.outcome === 'failed');
    for (const test of known) print(`known to fail: ${test}: ${failing[test]}\n`);
    const others = Object.fromEntries(Object.entries(outcomes).filter(([test]) => !known.includes(test)));
    const { passed, skipped, lines } = summarize(others, []);
    const unable = known.length === 0 ? '' : `, ${known.length} known to fail`;
    const sorted = sortSkips(suite, name, skippedOf(others));
    skips.push(...sorted.known);
    news.push(...sorted.news);
    const unknown = sorted.news.length === 0 ? '' : ` (${sorted.news.length} new)`;
    parts.push(`${name} ${passed} passed, ${skipped} skipped${unknown}${unable}`);
    failures.push(...lines.filter((line) => line.startsWith('failed: ')).map((line) => `${name}: ${line}`));
    if (passed < least) failures.push(`${name}: ${passed} passed, of at least ${least}`);
  }
  return { check: 'pyverbs', text: parts.join('; '), failures, skips, news };
}

/** @param {import('../../programs/pyverbs/summary.mjs').Outcomes} outcomes */
function skippedOf(outcomes) {
  return Object.entries(outcomes)
    .filter(([, { outcome }]) => outcome === 'skipped')
    .map(([test, { reason }]) => ({ test, reason }));
}

/**
 * The unmodified programs, as two processes.
 * @param {Root} root
 * @param {string} only part of the names of cases
 * @returns {Promise<Result>}
 */
export async function checkPrograms(root, only = '') {
  const place = processes(root.prefix);
  const machine = makeMachine();
  const table = new Table();
  const failures = [];
  let passed = 0;
  let cases = 0;
  try {
    for (const each of casesOfReleases(place, machine.folder)) {
      if (!`${each.program} ${each.name}`.includes(only)) continue;
      const failure = each.cannot ?? (await runCase(each, place, machine.environment));
      table.add(place, each, failure);
      if (each.cannot !== undefined) continue;
      ++cases;
      if (failure === undefined) ++passed;
      else failures.push(`${each.program} ${each.name}: ${failure}`);
    }
  } finally {
    machine.remove();
  }
  table.print();
  return { check: 'programs', text: `${passed} of ${cases} cases pass`, failures };
}
