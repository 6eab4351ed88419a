// The command of the release archive, without what it has beside it.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../../setup/src/paths.mjs';

/** The command in a folder of its own, whose name has what shells split and expand. */
function unpacked(): { home: string; command: string } {
  const home = mkdtempSync(join(tmpdir(), 'verbs-run & co-'));
  onTestFinished(() => {
    rmSync(home, { recursive: true });
  });
  const command = join(home, 'bin/verbs-run');
  cpSync(join(root, 'tools/release/archive/verbs-run'), command);
  return { home, command };
}

test('each device of a vendor gets the model of its kind, and the others stay as they are', () => {
  const { home, command } = unpacked();
  /** VERBS_SOFT as a program finds it. */
  const given = (args: string[], variable?: string) => {
    const env = { PATH: process.env['PATH'], ...(variable !== undefined && { VERBS_SOFT: variable }) };
    const print = ['sh', '-c', 'printf %s "${VERBS_SOFT-nothing}"'];
    const { status, stdout } = spawnSync(command, [...args, ...print], { env, encoding: 'utf8' });
    return [status, stdout];
  };
  const of = (kind: string) => `kind=${kind},model=${home}/lib/libverbs-soft-${kind}.so.1`;
  expect(given([])).toEqual([0, 'nothing']);
  expect(given(['--device', 'm0,kind=mlx5', '--device', 'soft0', '--device', 'h0,kind=hbl,ports=2'])).toEqual([
    0,
    `m0,${of('mlx5')};soft0;h0,${of('hbl')},ports=2`,
  ]);
  expect(given([], 'a,kind=doca,role=host;b,kind=mlx5,model=/own.so;c,kind=doca')).toEqual([
    0,
    `a,${of('doca')},role=host;b,kind=mlx5,model=/own.so;c,${of('doca')}`,
  ]);
});

test('the program has the input, the arguments, the signals and the exit code of the command', async () => {
  const { home, command } = unpacked();
  const temporary = join(home, 'temporary');
  mkdirSync(temporary);
  const env = { PATH: process.env['PATH'], TMPDIR: temporary };
  const echo = spawnSync(command, ['--', 'sh', '-c', 'printf "%s|" "$@"; cat; exit 7', 'sh', 'a b', '*'], {
    env,
    input: 'typed',
    encoding: 'utf8',
  });
  expect(echo).toMatchObject({ status: 7, stdout: 'a b|*|typed' });
  expect(spawnSync(command, ['sh', '-c', 'kill -9 $$'], { env }).status).toBe(137);
  expect(spawnSync(command, ['no-such-program'], { env }).status).toBe(127);

  const wait = 'trap "echo ended; exit 3" TERM; trap "echo typed" INT; echo ready; while :; do sleep 0.05; done';
  const running = spawn(command, ['sh', '-c', wait], { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(running, 'close');
  let printed = '';
  const prints = async (line: string) => {
    while (!printed.includes(line)) printed += String((await once(running.stdout, 'data'))[0]);
  };
  await prints('ready');
  // As of Ctrl-C: to all of the terminal's foreground.
  process.kill(-(running.pid ?? Number.NaN), 'SIGINT');
  await prints('typed');
  running.kill('SIGTERM');
  await prints('ended');
  expect(await ended).toEqual([3, null]);
  expect(readdirSync(temporary)).toEqual([]);
});
