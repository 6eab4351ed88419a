import { beforeAll, describe, expect, it } from 'vitest';
import { isGone, required } from '../pyverbs/required.mjs';
import { runSuite } from '../pyverbs/suite.mjs';
import type { Outcomes } from '../pyverbs/summary.mjs';

describe("rdma-core's tests of libibverbs", () => {
  let outcomes: Outcomes = {};
  let printed = '';
  beforeAll(async () => {
    outcomes = await runSuite((text) => {
      printed += text;
    });
  }, 330_000);

  it.for(required)('%s', (name, { skip }) => {
    skip(isGone(outcomes, name), 'this release of rdma-core has no such test');
    expect(outcomes[name]).toEqual({ outcome: 'passed', reason: '' });
  });

  it('has no failure', () => {
    const failed = Object.keys(outcomes).filter((name) => outcomes[name]?.outcome === 'failed');
    expect(failed, printed).toEqual([]);
  });

  it("leaves out what needs a vendor's hardware", () => {
    expect(Object.keys(outcomes).filter((name) => /\.test_(mlx5|efa)/.test(name))).toEqual([]);
  });
});
