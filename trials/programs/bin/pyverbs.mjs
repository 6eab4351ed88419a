#!/usr/bin/env node
// Runs rdma-core's test suite on the software NIC: `npm run trial pyverbs`.
import { runProgram } from '../../../tools/setup/src/program.mjs';
import { required, requiredOnMlx5 } from '../pyverbs/required.mjs';
import { leftOut, mlx5Bench, runSuite, softBench } from '../pyverbs/suite.mjs';
import { summarize } from '../pyverbs/summary.mjs';

await runProgram('pyverbs', async () => {
  /** @param {string} text */
  const print = (text) => process.stdout.write(text);
  let passed = 0;
  let skipped = 0;
  let failed = 0;
  const runs = /** @type {const} */ ([
    [softBench, required],
    [mlx5Bench, requiredOnMlx5],
  ]);
  for (const [bench, names] of runs) {
    const summary = summarize(await runSuite(print, bench), names);
    console.log();
    for (const line of summary.lines) console.log(line);
    passed += summary.passed;
    skipped += summary.skipped;
    failed += summary.failed;
  }
  for (const { modules, reason } of leftOut) console.log(`left out: ${modules.source}: ${reason}`);
  console.log(`passed ${passed}, skipped ${skipped}, failed ${failed}`);
  return failed === 0 ? 0 : 1;
});
