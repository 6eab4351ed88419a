import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectedSuites, resultOf } from '../src/report/suites.mjs';
import { add, describe as inWords, type Tally } from '../src/report/tally.mjs';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-check-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const suite = (read: () => Tally) => ({ name: 'a suite', report: join(directory, 'report'), read });
const tally = (passed: number, failed: number, skipped: string[] = []): Tally => ({
  passed,
  failed,
  skipped,
  failures: [],
});

describe('expectedSuites', () => {
  it('finds the suites in the scripts of the packages', () => {
    const names = expectedSuites().map(({ name }) => name);
    expect(names).toContain('tools/check (vitest)');
    expect(names).toContain('packages/soft (vitest)');
    expect(names).toContain('packages/soft (ctest)');
    // A package without C++ tests of its own.
    expect(names).not.toContain('packages/core (ctest)');
  });
});

describe('resultOf', () => {
  it('takes a missing report for a failure', () => {
    const result = resultOf(suite(() => tally(1, 0)));
    expect(result).toMatchObject({ passed: 0, failed: 1, failures: [{ why: 'it left no report', crashed: true }] });
  });

  it('takes a report without tests for a failure', () => {
    writeFileSync(join(directory, 'report'), '');
    const result = resultOf(suite(() => tally(0, 0, ['one'])));
    expect(result).toMatchObject({ passed: 0, failed: 1, skipped: ['one'], failures: [{ why: 'it ran no test' }] });
  });
});

describe('the closing line', () => {
  it('adds up all suites, and speaks of skipped tests only if there are any', () => {
    const green = tally(2, 0);
    expect(inWords(add([green, green]))).toBe('4 passed, 0 failed');
    expect(inWords(add([green, tally(0, 1, ['one'])]))).toBe('2 passed, 1 failed, 1 skipped');
  });
});
