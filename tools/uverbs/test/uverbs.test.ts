import { expect, test } from 'vitest';
import { buildNative, scenarioNames } from '../src/build.mjs';
import { runScenario } from '../src/scenario-run.mjs';

// The whole, with rxe and the write interface: npm run test:uverbs.
buildNative();

test.each(scenarioNames())('libmlx5 sends for %s what it sends for C', { timeout: 300_000 }, (name) => {
  const { verdict, reason } = runScenario(name, 'mlx5', 'ioctl');
  expect(reason).toBeUndefined();
  expect(verdict).toBe('same');
});

test.each(['sends', 'receives', 'completion-queues'])(
  'librxe sends for %s what it sends for C',
  { timeout: 300_000 },
  (name) => {
    const { verdict, reason } = runScenario(name, 'rxe', 'write');
    expect(reason).toBeUndefined();
    expect(verdict).toBe('same');
  },
);

test('a difference is found', { timeout: 300_000 }, () => {
  process.env['UVERBS_TEST_DIFFERENCE'] = '1';
  try {
    expect(runScenario('address-handles', 'mlx5', 'ioctl')).toMatchObject({ verdict: 'different' });
  } finally {
    delete process.env['UVERBS_TEST_DIFFERENCE'];
  }
});
