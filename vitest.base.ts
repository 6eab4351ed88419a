import { defineConfig } from 'vitest/config';
import { JsonReporter, type Reporter, type TestModule } from 'vitest/node';

type Errors = Parameters<NonNullable<Reporter['onTestRunEnd']>>[1];

/** vitest's own JSON report calls a run with errors outside of its tests a success, and leaves them out. This one has them. */
class Report extends JsonReporter {
  #errors: Errors = [];

  override onTestRunEnd(modules: readonly TestModule[], errors: Errors = []): Promise<void> {
    this.#errors = errors;
    return super.onTestRunEnd(modules);
  }

  override writeReport(report: string): Promise<void> {
    const errors = this.#errors.map(
      ({ type, name, message, stack, VITEST_TEST_NAME: during, VITEST_TEST_PATH: file }) => ({
        ...{ type, name, message, stack, during, file },
      }),
    );
    return super.writeReport(JSON.stringify({ ...(JSON.parse(report) as object), errors }));
  }
}

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
    reporters: ['default', new Report({})],
    outputFile: { json: 'test-results/vitest.json' },
  },
});
