// The command of the release archive, without what it has beside it.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../../setup/src/paths.mjs';

test('each device of a vendor gets the model of its kind, and the others stay as they are', () => {
  const home = mkdtempSync(join(tmpdir(), 'verbs-run & co-'));
  onTestFinished(() => {
    rmSync(home, { recursive: true });
  });
  const command = join(home, 'bin/verbs-run');
  cpSync(join(root, 'tools/release/archive/verbs-run'), command);
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
