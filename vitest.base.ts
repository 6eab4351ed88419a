import { defineConfig } from 'vitest/config';

/**
 * What every package's tests share. Each test file runs in a process of its own, so that a crash of native code
 * stays inside its file. The JSON report is what the summary of `npm test` is added up from.
 */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    execArgv: ['--expose-gc'],
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    passWithNoTests: false,
    reporters: ['default', 'json'],
    outputFile: { json: 'test-results/vitest.json' },
  },
});
