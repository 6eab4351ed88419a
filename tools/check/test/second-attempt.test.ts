import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withSecondAttempt } from '../src/report/second-attempt.mjs';
import { expectedSuites } from '../src/report/suites.mjs';
import type { Failure, Tally } from '../src/report/tally.mjs';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-check-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const failure = (name: string, crashed = false): Failure => ({ name, why: 'why', target: `${name}.test.ts`, crashed });
const tally = (passed: number, failures: Failure[]): Tally => ({
  passed,
  failed: failures.length,
  skipped: [],
  failures,
});

/** The verdict on a first tally, with the commands that were run; the second attempt ends as given, or leaves no report. */
function verdict(first: Tally, second?: Tally) {
  const commands: string[][] = [];
  const suite = {
    name: 'a suite',
    report: join(directory, 'first'),
    again: join(directory, 'again'),
    read: (text: string) => JSON.parse(text) as Tally,
    directory,
    secondAttempt: (failures: Failure[]) => failures.map(({ target }) => target),
  };
  const result = withSecondAttempt(suite, first, (command) => {
    commands.push(command);
    if (second !== undefined) writeFileSync(suite.again, JSON.stringify(second));
  });
  return { ...result, commands };
}

describe('a second attempt', () => {
  it('is not made where nothing failed', () => {
    expect(verdict(tally(3, []))).toMatchObject({ passed: 3, failed: 0, unsteady: [], commands: [] });
  });

  it('makes a test that passes then an unsteady one', () => {
    const result = verdict(tally(3, [failure('one')]), tally(1, []));
    expect(result).toMatchObject({ passed: 4, failed: 0, failures: [], commands: [['one.test.ts']] });
    expect(result.unsteady).toMatchObject([{ name: 'one' }]);
  });

  it('leaves a test that fails again failed', () => {
    const result = verdict(tally(3, [failure('one'), failure('two')]), tally(1, [failure('two')]));
    expect(result).toMatchObject({ passed: 3, failed: 2, failures: [{ name: 'two' }], unsteady: [] });
  });

  it('that leaves no report, or runs no test, is a failure', () => {
    expect(verdict(tally(3, [failure('one')]))).toMatchObject({ failed: 1, unsteady: [] });
    expect(verdict(tally(3, [failure('one')]), tally(0, []))).toMatchObject({ failed: 1, unsteady: [] });
  });

  it('is not made for a crash, nor for many failures', () => {
    const crash = verdict(tally(3, [failure('one'), failure('two', true)]), tally(2, []));
    expect(crash).toMatchObject({ failed: 2, unsteady: [], commands: [] });
    const many = ['one', 'two', 'three', 'four'].map((name) => failure(name));
    expect(verdict(tally(3, many), tally(4, []))).toMatchObject({ failed: 4, unsteady: [], commands: [] });
  });

  it('runs what failed, alone, by the runner of the suite', () => {
    const commandOf = (name: string) =>
      expectedSuites()
        .find((suite) => suite.name === name)
        ?.secondAttempt([failure('one'), failure('one')])
        .join(' ');
    expect(commandOf('tools/check (vitest)')).toMatch(/^vitest run one\.test\.ts --maxWorkers=1 --outputFile\.json=/);
    expect(commandOf('packages/soft (ctest)')).toMatch(/^ctest .*--rerun-failed/);
  });
});
