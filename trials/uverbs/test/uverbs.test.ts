import { expect, onTestFinished, test, vi } from 'vitest';
import { buildNative, scenarioNames } from '../src/build.mjs';
import { runScenario } from '../src/scenario-run.mjs';

// The whole, with rxe and the write interface: npm run trial uverbs.
buildNative();

test.each(scenarioNames('mlx5'))('libmlx5 sends for %s what it sends for C', { timeout: 300_000 }, (name) => {
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

test.skipIf(process.env['HBL_LIBRARY'] === undefined).each(scenarioNames('hbl'))(
  'libhbl sends for %s what it sends for C',
  { timeout: 300_000 },
  (name) => {
    const { verdict, reason } = runScenario(name, 'hbl', 'ioctl');
    expect(reason).toBeUndefined();
    expect(verdict).toBe('same');
  },
);

test('without HBL_LIBRARY each scenario of libhbl is listed with the reason', () => {
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  vi.stubEnv('HBL_LIBRARY', undefined);
  for (const name of scenarioNames('hbl')) {
    const { verdict, reason } = runScenario(name, 'hbl', 'ioctl');
    expect([verdict, reason]).toEqual(['skipped', 'HBL_LIBRARY names no libhbl']);
  }
});

test('HBL_LIBRARY with a path that is wrong is an error', () => {
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  vi.stubEnv('HBL_LIBRARY', '/nowhere/libhbl.so.1');
  expect(() => runScenario('hbl-open', 'hbl', 'ioctl')).toThrow('there is no such file');
});
