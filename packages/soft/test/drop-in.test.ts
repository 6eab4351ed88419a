import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { dropIn, dropInDirectory, library, nicLibrary } from '../src/index.js';

/** Runs a program of ibverbs-utils on the software NIC. */
function run(program: string, args: string[], directory: string, configuration: string) {
  const env = { ...process.env, LD_LIBRARY_PATH: directory, VERBS_SOFT: configuration };
  const { status, stdout, stderr, error } = spawnSync(program, args, { env, encoding: 'utf8' });
  if (error) throw error;
  return { status, stdout, stderr };
}

describe('the drop-in directory', () => {
  it('is that of this package without models', () => {
    expect(dropInDirectory()).toBe(dropIn);
    for (const file of [library, nicLibrary, join(dropIn, 'libibverbs.so.1')]) expect(existsSync(file)).toBe(true);
  });

  it('runs ibv_devices and ibv_devinfo unchanged', () => {
    const devices = run('ibv_devices', [], dropInDirectory(), 'one;two');
    expect(devices.stdout).toMatch(/^ {4}one\s+\t02[0-9a-f]{14}$/m);
    expect(devices.stdout).toMatch(/^ {4}two\s+\t02[0-9a-f]{14}$/m);
    const info = run('ibv_devinfo', ['-v', '-d', 'one'], dropInDirectory(), 'one,mtu=1024');
    expect(info).toMatchObject({ status: 0, stderr: '' });
    expect(info.stdout).toMatch(/board_id:\s+VERBS_SOFT/);
    expect(info.stdout).toMatch(/active_mtu:\s+1024 \(3\)/);
    expect(info.stdout).toMatch(/GID\[ {2}0\]:\s+::ffff:127\.0\.0\.\d+, RoCE v2/);
  });

  it('is a fresh one with the libraries of models, and the same NIC', () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbs-soft-model-'));
    vi.stubEnv('TMPDIR', folder); // so that nobody else's directories are seen below
    mkdirSync(join(folder, 'dropin'));
    writeFileSync(join(folder, 'dropin', 'libtoy.so.1'), '');
    const model = { kind: 'toy', library: join(folder, 'libtoy.so'), dropIn: join(folder, 'dropin') };
    const directory = dropInDirectory([model]);
    try {
      expect(directory).not.toBe(dropIn);
      expect(readdirSync(directory)).toEqual(
        expect.arrayContaining(['libibverbs.so.1', 'libtoy.so.1', 'libverbs-soft-nic.so.1']),
      );
      expect(run('ibv_devices', [], directory, 'linked').stdout).toMatch(/linked/);
      expect(statSync(directory).mode & 0o777).toBe(0o700); // no other user puts a library into it
    } finally {
      rmSync(directory, { recursive: true });
    }
    rmSync(model.dropIn, { recursive: true });
    expect(() => dropInDirectory([model])).toThrow(/ENOENT/);
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
    vi.unstubAllEnvs();
  });
});
