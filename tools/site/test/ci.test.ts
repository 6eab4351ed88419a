import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const file = (name: string) => readFileSync(join(root, 'docs/guides/ci', name), 'utf8');

/** The shell lines of each file, by what its format calls them. */
const steps = {
  'github.yml': [...file('github.yml').matchAll(/^ +- run: (.*)$/gm)],
  'action.yml': [...file('action.yml').matchAll(/^ +- run: (.*)$/gm)],
  'gitlab.yml': [...file('gitlab.yml').matchAll(/^ {4}- ((?:apt-get|npm|verbs) .*)$/gm)],
  Dockerfile: [...file('Dockerfile').matchAll(/^(?:RUN|CMD) (.*)$/gm)],
};

// Below this package, where the program finds @verbs/core.
const results = fileURLToPath(new URL('../test-results/', import.meta.url));
const program = join(results, 'ci-program.mjs');

/** What stands for the tests of the reader's project: a program of the system, and one that sends. */
const makefile = `test:\n\tibv_devinfo -d soft0 >/dev/null\n\t${process.execPath} ${program}\n`;

describe('the shell steps of the files for CI', { timeout: 120_000 }, () => {
  let folder: string;
  let bin: string;
  const command = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'verbs-ci-'));
    bin = join(folder, 'bin');
    mkdirSync(bin);
    // What the steps install is there already: these say what would be installed.
    command('sudo', 'exec "$@"');
    command('apt-get', `echo "apt-get $*" >>${join(folder, 'installed')}`);
    command('npm', `echo "npm $*" >>${join(folder, 'installed')}`);
    command('verbs', `exec ${process.execPath} ${join(root, 'packages/cli/bin/verbs.mjs')} "$@"`);
    mkdirSync(results, { recursive: true });
    const [, code = ''] = /```js\n(.*?)```/s.exec(readFileSync(join(root, 'packages/core/README.md'), 'utf8')) ?? [];
    writeFileSync(program, code);
    writeFileSync(join(folder, 'Makefile'), makefile);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it.each(Object.entries(steps))('%s', (name, lines) => {
    expect(lines.length).toBeGreaterThan(1);
    const env: NodeJS.ProcessEnv = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    delete env['VERBS_SOFT'];
    // What the action's inputs are in its environment.
    if (name === 'action.yml')
      Object.assign(env, { RUN: 'false || make test', FAULTS: 'drop=0.02,seed=7', CAPTURE: 'loss.pcapng' });
    for (const [, line = ''] of lines) {
      const run = spawnSync('/bin/sh', ['-e', '-c', line], { cwd: folder, env, encoding: 'utf8' });
      expect({ line, status: run.status, stderr: run.status === 0 ? '' : run.stderr }).toEqual({
        line,
        status: 0,
        stderr: '',
      });
      if (/make test|RUN/.test(line)) expect(run.stdout).toContain('hello over verbs');
    }
    const installed = readFileSync(join(folder, 'installed'), 'utf8');
    expect(installed).toContain('npm install --global @verbs/cli');
    expect(existsSync(join(folder, 'loss.pcapng'))).toBe(name !== 'Dockerfile');
    if (name === 'action.yml') return;
    expect(installed).toMatch(/apt-get install -y --no-install-recommends .*ibverbs-utils/);
    expect(existsSync(join(folder, 'loss.html'))).toBe(name !== 'Dockerfile');
  });
});
