import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { committedCorpusOf, targetNames } from '../src/fuzz/build.mjs';

function fuzz(...args: string[]) {
  return spawnSync(process.execPath, [join(import.meta.dirname, '../fuzz.mjs'), ...args], { encoding: 'utf8' });
}

describe('npm run fuzz', () => {
  it.each([
    [['--target', 'nobody'], /--target nobody: there is no such target; there are .*, nic/],
    [['--minutes', 'ten'], /--minutes ten/],
    [['--jobs', '0.5'], /--jobs 0.5/],
    [['--corpus', 'x'], /--corpus/],
  ])('refuses %j', (args, message) => {
    const { status, stderr } = fuzz(...args);
    expect(stderr).toMatch(message);
    expect(status).toBe(2);
  });

  it('has a committed corpus for every target, and the NIC is the last', () => {
    expect(targetNames().at(-1)).toBe('nic');
    for (const name of targetNames()) {
      const folder = committedCorpusOf(name);
      expect(existsSync(folder) ? readdirSync(folder).length : 0, name).toBeGreaterThan(0);
    }
  });
});
