// What a killed boot leaves behind: its folder, which the next boot removes, and no machine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { folderPrefix, removeStaleFolders } from '../src/stale-folders.mjs';

const program = join(import.meta.dirname, '../bin/testbed.mjs');
const folder = mkdtempSync(join(tmpdir(), 'verbs-stale-'));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

it('are removed when their process is gone, and no others', () => {
  const [begin = '', namespace = ''] = /^verbs-testbed-([0-9]+)-/.exec(folderPrefix) ?? [];
  // Linux has no process of a higher number than 4194304.
  const gone = `${begin}4194305-abcdef`;
  const kept = [
    `${folderPrefix}abcdef`,
    `${begin}1-abcdef`,
    `verbs-testbed-${Number(namespace) + 1}-4194305-abcdef`,
    'verbs-testbed-abcdef',
    'other',
  ];
  for (const name of [gone, ...kept]) mkdirSync(join(folder, name, 'inside'), { recursive: true });
  expect(removeStaleFolders(folder)).toEqual([gone]);
  expect(readdirSync(folder).sort()).toEqual(kept.sort());
});

// Only root can give a folder to somebody else.
it.skipIf(process.getuid?.() !== 0)('are left to another user, who alone may be able to remove them', () => {
  const [begin = ''] = /^verbs-testbed-[0-9]+-/.exec(folderPrefix) ?? [];
  const others = join(folder, `${begin}4194305-other`);
  mkdirSync(others);
  chownSync(others, 65534, 65534);
  expect(removeStaleFolders(folder)).toEqual([]);
  expect(existsSync(others)).toBe(true);
});

/** The first process that the process has started and that still runs. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
}

it('a machine ends when its owner is killed', { timeout: 300_000 }, async () => {
  const owner = spawn(process.execPath, [program, 'sleep', '600'], {
    stdio: 'ignore',
    env: { ...process.env, TMPDIR: folder },
  });
  const pid = owner.pid ?? 0;
  const next = () => new Promise((resolve) => setTimeout(resolve, 20));
  const command = (of: number) => {
    try {
      return readFileSync(`/proc/${of}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  };
  while (owner.exitCode === null && !command(childOf(pid)).startsWith('qemu-system-x86_64')) await next();
  const machine = childOf(pid);
  owner.kill('SIGKILL');
  await once(owner, 'close');
  while (existsSync(`/proc/${machine}`) && command(machine) !== '') await next();
  expect(readdirSync(folder).filter((name) => name.includes(`-${pid}-`))).toHaveLength(1);
  expect(removeStaleFolders(folder)).toHaveLength(1);
});
