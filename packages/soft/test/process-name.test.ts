import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { processName } from '../src/process-name.js';

const folder = mkdtempSync(join(tmpdir(), 'verbs-name-'));
const waits = "process.stdout.write('up\\n'); process.stdin.resume();";
writeFileSync(join(folder, 'echo server.mjs'), waits);
writeFileSync(join(folder, 'hook.mjs'), '');
writeFileSync(join(folder, '.env'), '');
writeFileSync(join(folder, 'old.js'), waits);
writeFileSync(join(folder, 'titled.js'), `process.title = 'my service'; ${waits}`);
mkdirSync(join(folder, 'app'));
writeFileSync(join(folder, 'app', 'index.js'), waits);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Runs it until `work` is done: each program waits for the end of its input. */
async function during<T>(command: string, args: string[], work: (child: ChildProcess) => T): Promise<T> {
  const child = spawn(command, args, { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  const result = work(child);
  child.stdin.end();
  await ended;
  return result;
}

const nameOf =
  (program: string) =>
  ({ pid }: ChildProcess) =>
    processName(pid ?? 0, program);

describe('the name of a process', () => {
  it.each([
    [['echo server.mjs', 'old.js'], 'echo server.mjs'],
    [[join(folder, 'old.js'), '--port', '1'], 'old.js'],
    [['old'], 'old'],
    [['app'], 'app'],
    [['--import', './hook.mjs', '--trace-warnings', '--env-file', '.env', 'old.js'], 'old.js'],
    [['-e', waits, 'old.js'], 'node'],
  ])('of node %j is %s', async (args, name) => {
    expect(await during(process.execPath, args, nameOf('node'))).toBe(name);
  });

  it('is its title, where it has one', async () => {
    expect(await during(process.execPath, ['titled.js'], nameOf('my service'))).toBe('my service');
  });

  it('is never that of a thread: Node.js calls its first one MainThread', async () => {
    expect(await during(process.execPath, ['-e', waits], nameOf('MainThread'))).toBe('node');
  });

  it('is its own for a program that is no interpreter, whatever its arguments', async () => {
    expect(await during('cat', ['titled.js', '-'], nameOf('cat'))).toBe('cat');
  });

  it('is the one that is known, for a process that is gone', () => {
    expect(processName(2 ** 22 + 1, 'gone')).toBe('gone');
  });
});
