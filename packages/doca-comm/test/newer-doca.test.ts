import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';

// Folders with the libraries of DOCA 3.x, by name: none of them has the Comm Channel.

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  vi.unstubAllEnvs();
  vi.resetModules();
});

function folderWith(...libraries: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-doca-3-'));
  folders.push(folder);
  for (const name of libraries) {
    const file = join(folder, `libdoca_${name}.so.2`);
    execFileSync('cc', ['-shared', '-fPIC', '-x', 'c', '-o', file, '-'], {
      input: 'int doca_version(void) { return 3; }',
    });
  }
  return folder;
}

async function reasonWith(...libraries: string[]): Promise<string> {
  vi.stubEnv('VERBS_DOCA_LIBRARY_DIR', folderWith(...libraries));
  vi.resetModules();
  const { unavailableReason } = await import('../src/index.js');
  return unavailableReason('system') ?? '';
}

it('DOCA 3 with Comch is named, and what it means', async () => {
  const reason = await reasonWith('common', 'comch');
  expect(reason).toMatch(/libdoca_comm_channel\.so\.2/);
  expect(reason).toMatch(/the DOCA here has no Comm Channel, which ended with release 2\.8, but Comch/);
});

it('DOCA 3 without Comch is named, too', async () => {
  const reason = await reasonWith('common');
  expect(reason).toMatch(
    /the DOCA here has no Comm Channel, which ended with release 2\.8: install DOCA 1\.5 to 2\.8 beside/,
  );
});

it('without any DOCA the remedy is to install one', async () => {
  expect(await reasonWith()).toMatch(/: install DOCA 1\.5 to 2\.8, or name its directory/);
});
