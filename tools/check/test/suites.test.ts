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
    const result = resultOf(suite(() => ({ passed: 1, failed: 0, skipped: [] })));
    expect(result).toEqual({ passed: 0, failed: 1, skipped: [], remark: 'it left no report' });
  });

  it('takes a report without tests for a failure', () => {
    writeFileSync(join(directory, 'report'), '');
    const result = resultOf(suite(() => ({ passed: 0, failed: 0, skipped: ['one'] })));
    expect(result).toEqual({ passed: 0, failed: 1, skipped: ['one'], remark: 'it ran no test' });
  });
});

describe('the closing line', () => {
  it('adds up all suites, and speaks of skipped tests only if there are any', () => {
    const green = { passed: 2, failed: 0, skipped: [] };
    expect(inWords(add([green, green]))).toBe('4 passed, 0 failed');
    expect(inWords(add([green, { passed: 0, failed: 1, skipped: ['one'] }]))).toBe('2 passed, 1 failed, 1 skipped');
  });
});
