#!/usr/bin/env node
// The software NIC with the programs of several releases of Debian: `npm run trial distros`.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Problem } from '../../../tools/setup/src/problem.mjs';
import { runProgram } from '../../../tools/setup/src/program.mjs';
import { checkLoading, checkPrograms, checkPyverbs } from '../src/checks.mjs';
import { checkCheckout } from '../src/checkout.mjs';
import { programPackages, releases } from '../src/releases.mjs';
import { openRoot } from '../src/root.mjs';
import { tableOf, writeTable } from '../src/table.mjs';
import { checkUverbs, uverbsPackages } from '../src/uverbs.mjs';

const usage = `Usage: npm run trial distros [-- OPTION…]

Runs the checks below in a root of each release, which is made at the first time and kept.

  --suite NAME     bookworm, trixie or sid; may be repeated
  --only CHECK     load, pyverbs, programs, uverbs, checkout or tests; may be repeated; all but tests if not given
  --cases TEXT     of the programs, the cases whose names contain it
  --json FILE      the results for programs
  --write          the results into the table of docs/versions.md
  --verbose        the output of rdma-core's own tests
  --help           print this text

  load      every program and library that is linked with RDMA libraries finds its names in ours (seconds)
  pyverbs   rdma-core's own tests of that release, on the plain NIC and on the model of an mlx5 device (half a minute)
  programs  perftest, rping, UCX, MPI, libfabric, fio, qperf and others, as two processes (ten minutes)
  uverbs    the trial uverbs, with that release's libraries and headers (two minutes)
  checkout  set-up and demo from a fresh clone, with that release's Node, compiler and libibverbs-dev (ten minutes)
  tests     the same, and npm test after it (an hour and a half)`;

const checks = ['load', 'pyverbs', 'programs', 'uverbs', 'checkout', 'tests'];

await runProgram('distros', async () => {
  const { values } = parseArgs({
    options: {
      suite: { type: 'string', multiple: true, default: releases.map(({ suite }) => suite) },
      only: { type: 'string', multiple: true, default: checks.slice(0, -1) },
      cases: { type: 'string', default: '' },
      json: { type: 'string' },
      write: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const unknown = values.only.find((name) => !checks.includes(name));
  if (unknown !== undefined) throw new Problem(`--only ${unknown}: there are ${checks.join(', ')}`);
  const wanted = releases.filter(({ suite }) => values.suite.includes(suite));
  if (wanted.length === 0) throw new Problem(`--suite: there are ${releases.map(({ suite }) => suite).join(', ')}`);

  const print = (/** @type {string} */ text) => values.verbose && process.stderr.write(text);
  const results = [];
  for (const release of wanted) {
    const packages = [
      ...release.packages,
      ...(values.only.includes('programs') ? programPackages : []),
      // Debian 12's Node is older than the packages' least.
      ...(values.only.includes('uverbs') && release.suite !== 'bookworm' ? uverbsPackages : []),
    ];
    const root = openRoot(release, packages);
    for (const check of checks.filter((name) => values.only.includes(name))) {
      console.error(`${release.title}: ${check}`);
      const result = await {
        load: () => checkLoading(root),
        pyverbs: () => checkPyverbs(root, release, print),
        programs: () => checkPrograms(root, values.cases),
        uverbs: () => checkUverbs(root, release),
        checkout: () => checkCheckout(root, release, 'checkout'),
        tests: () => checkCheckout(root, release, 'tests'),
      }[/** @type {'load' | 'pyverbs' | 'programs' | 'uverbs' | 'checkout' | 'tests'} */ (check)]();
      for (const skip of 'news' in result ? (result.news ?? []) : [])
        console.log(`new skip, ${release.title}: ${skip}`);
      for (const failure of result.failures) console.log(`FAILED ${release.title}: ${check}: ${failure}`);
      results.push({ suite: release.suite, title: release.title, versions: versionsOf(root), ...result });
    }
  }
  console.log(`\n${tableOf(results)}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  if (values.write) writeTable(results);
  return results.every(({ failures }) => failures.length === 0) ? 0 : 1;
});

/** @param {import('../src/root.mjs').Root} root */
function versionsOf(root) {
  return {
    'rdma-core': root.versionOf('rdma-core'),
    perftest: root.versionOf('perftest'),
    UCX: root.versionOf('ucx-utils'),
    libfabric: root.versionOf('libfabric-bin'),
  };
}
