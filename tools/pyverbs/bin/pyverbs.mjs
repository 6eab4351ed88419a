#!/usr/bin/env node
// Runs rdma-core's test suite on the software NIC: `npm run test:pyverbs`.
import { runProgram } from '../../setup/src/program.mjs';
import { required } from '../src/required.mjs';
import { leftOut, runSuite } from '../src/suite.mjs';
import { summarize } from '../src/summary.mjs';

await runProgram('test:pyverbs', async () => {
  const outcomes = await runSuite((text) => process.stdout.write(text));
  const { passed, skipped, failed, lines } = summarize(outcomes, required);
  console.log();
  for (const { modules, reason } of leftOut) console.log(`left out: ${modules.source}: ${reason}`);
  for (const line of lines) console.log(line);
  console.log(`passed ${passed}, skipped ${skipped}, failed ${failed}`);
  return failed === 0 ? 0 : 1;
});
