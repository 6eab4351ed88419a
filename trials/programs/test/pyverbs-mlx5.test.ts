import { beforeAll, describe, expect, it } from 'vitest';
import { isGone, requiredOnMlx5 } from '../pyverbs/required.mjs';
import { mlx5Bench, runSuite } from '../pyverbs/suite.mjs';
import type { Outcomes } from '../pyverbs/summary.mjs';

// The suite asks for root wherever it makes raw packets.
describe.runIf(process.getuid?.() === 0)("rdma-core's tests of mlx5 devices, as root", () => {
  let outcomes: Outcomes = {};
  let printed = '';
  beforeAll(async () => {
    outcomes = await runSuite((text) => {
      printed += text;
    }, mlx5Bench);
  }, 330_000);

  it.for(requiredOnMlx5)('%s', (name, { skip }) => {
    skip(isGone(outcomes, name), 'this release of rdma-core has no such test');
    expect(outcomes[name], printed).toEqual({ outcome: 'passed', reason: '' });
  });
});
