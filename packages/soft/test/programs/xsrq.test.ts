import { expect, test } from 'vitest';
import { runPair } from './pair.js';

// Unlike the other ping-pongs it prints no figures: "success" when all messages and the termination message have arrived.
test.each([{ args: [] }, { args: ['-e'] }, { args: ['-o', '-e'] }])(
  'ibv_xsrq_pingpong -g 0 $args',
  async ({ args }) => {
    for (const { status, stdout, stderr } of await runPair('ibv_xsrq_pingpong', args)) {
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^success$/m);
    }
  },
);
