// One boot of the virtual machine: what `npm run trial testbed` promises of output and status. The rest of the room is tested by
// what runs in it.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandScript } from '../src/command-script.mjs';

const program = join(import.meta.dirname, '../bin/testbed.mjs');

it('runs a command over the kernel, with its output, its errors and its status', { timeout: 700_000 }, () => {
  const script = 'ibv_devices; echo "$VERBS_WORD" >&2; sh -c "kill -SEGV \\$\\$"; echo "died of $?"; exit 42';
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'sh', '-c', script], {
    encoding: 'utf8',
    env: { ...process.env, VERBS_WORD: `it's "here"` },
  });
  expect(stdout).toMatch(/^ {4}rxe0\s+[0-9a-f]{16}$/m);
  expect(stdout).toMatch(/^died of 139$/m);
  expect(stderr).toContain(`it's "here"\n`);
  expect(status).toBe(42);
});

it('passes any word on as it is', () => {
  const words = ['printf', '%s\n', 'a b', `it's`, '$HOME', '', '\\', '*'];
  const { stdout } = spawnSync('sh', ['-c', commandScript(words, { cwd: '/', env: {} })], { encoding: 'utf8' });
  expect(stdout.split('\n').slice(0, -1)).toEqual(words.slice(2));
});

it('refuses to run nothing', () => {
  const { status, stdout } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
  expect(stdout).toContain('npm run trial testbed');
  expect(status).toBe(2);
});
