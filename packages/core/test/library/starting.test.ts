// Where and how a program is started.
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { programPath, run } from '../helpers/program.js';

const PROGRAM = programPath('list.mjs');

it('a working directory that was deleted meanwhile is none to look in', () => {
  const gone = mkdtempSync(join(tmpdir(), 'verbs-gone-'));
  const start = ['-c', 'cd "$1" && rmdir "$1" && exec "$2" "$3"', 'sh', gone, process.execPath, PROGRAM];
  const { stdout, stderr } = spawnSync('sh', start, { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toHaveProperty('devices.0.library');
});

it('--no-addons is named as what it is', async () => {
  const { stderr } = await run(PROGRAM, { nodeArgs: ['--no-addons'] });
  expect(stderr).toMatch(/cannot be used: Node.js runs with --no-addons; start it without this option/);
});
