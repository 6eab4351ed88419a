import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../src/paths.mjs';
import { isNewEnough } from '../src/requirements.mjs';

function setup(args: string[], env: NodeJS.ProcessEnv = process.env) {
  return spawnSync(process.execPath, [join(root, 'tools/setup/setup.mjs'), ...args], { env, encoding: 'utf8' });
}

describe('setup', () => {
  it('refuses an unknown argument with status 2', () => {
    const { status, stderr } = setup(['--tset']);
    expect(status).toBe(2);
    expect(stderr).toContain("unknown argument '--tset'");
  });

  it('names every program that the machine lacks', () => {
    const { status, stderr } = setup([], { ...process.env, PATH: '/nonexistent' });
    expect(status).toBe(1);
    expect(stderr).toContain('apt-get install g++ make python3');
  });
});

describe('isNewEnough', () => {
  it.each([
    ['18.20.4', false],
    ['20.18.3', false],
    ['20.19.0', true],
    ['22.0.0', true],
  ])('%s: %s', (version, expected) => {
    expect(isNewEnough(version)).toBe(expected);
  });
});
