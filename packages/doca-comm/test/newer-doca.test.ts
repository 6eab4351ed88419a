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

/** Libraries by the part of their names behind `libdoca_`; `common` tells the version. */
function folderWith(version: string, ...libraries: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-doca-3-'));
  folders.push(folder);
  for (const name of libraries) {
    const file = join(folder, `libdoca_${name}.so.2`);
    const told = version !== '' && name === 'common';
    const input = told
      ? `const char *doca_version_runtime(void) { return "${version}"; }`
      : `int doca_${name}_does_nothing(void) { return 0; }`;
    execFileSync('cc', ['-shared', '-fPIC', '-x', 'c', '-o', file, '-'], { input });
  }
  return folder;
}

async function packageWith(version: string, ...libraries: string[]) {
  vi.stubEnv('VERBS_DOCA_LIBRARY_DIR', folderWith(version, ...libraries));
  vi.resetModules();
  return import('../src/index.js');
}
const reasonWith = async (version: string, ...libraries: string[]) =>
  (await packageWith(version, ...libraries)).unavailableReason('system') ?? '';

it('DOCA 3 with Comch is named, and what it means', async () => {
  const reason = await reasonWith('3.1.0105', 'common', 'comch');
  expect(reason).toMatch(/libdoca_comm_channel\.so\.2: cannot open/);
  expect(reason).toMatch(
    /; the DOCA 3\.1\.0105 here has no Comm Channel, which is gone since DOCA 3\.0; its successor Comch \(libdoca_comch\.so\.2\) is here, and this package does not drive it: install DOCA 1\.5 to 2\.8 beside/,
  );
});

it('DOCA 3 without Comch is named, too', async () => {
  expect(await reasonWith('3.5.0', 'common')).toMatch(
    /the DOCA 3\.5\.0 here .* its successor Comch .* is not here either/,
  );
});

it('a DOCA that does not tell its version is one without the Comm Channel all the same', async () => {
  expect(await reasonWith('', 'common', 'comch')).toMatch(
    /; the DOCA here has no Comm Channel, which is gone since DOCA 3\.0/,
  );
});

it('an older DOCA without that part of it is named', async () => {
  expect(await reasonWith('2.8.0081', 'common', 'comch')).toMatch(
    /; the DOCA 2\.8\.0081 here has no Comm Channel: install that part of it \(.*doca-sdk-comm-channel\)$/,
  );
});

it('without any DOCA the remedy is to install one', async () => {
  expect(await reasonWith('')).toMatch(/: install DOCA 1\.5 to 2\.8, or name its directory/);
});

it('the report for people has the version, the file and the remedy', async () => {
  const { vendorLibrary } = await packageWith('3.1.0105', 'common', 'comch');
  expect(vendorLibrary()).toEqual({
    name: 'DOCA',
    hardware: 'a BlueField',
    file: expect.stringMatching(/libdoca_common\.so\.2$/) as string,
    release: 'DOCA 3.1.0105',
    text: expect.stringMatching(/no Comm Channel, which is gone since DOCA 3\.0; its successor Comch/) as string,
    remedy: expect.stringMatching(/^install DOCA 1\.5 to 2\.8 beside it/) as string,
  });
  const { vendorLibrary: without } = await packageWith('');
  expect(without()).toMatchObject({ name: 'DOCA', text: 'no libdoca_common is here' });
});

it("with DOCA 3, a card's address opens nothing, and the error says why", async () => {
  const { openDevice } = await packageWith('3.1.0105', 'common', 'comch');
  // Those of BlueFields in a host and in the card itself, by each way to write them.
  for (const address of ['0000:03:00.0', '03:00.0', '0000:3b:00.0', '3B:00.0', '0000:af:00.1']) {
    expect(() => openDevice(address)).toThrow(
      /NOT_FOUND.*there is no device .*; there are: 5f5f:3b:00\.0 \(doca_host0\), 5f5f:03:00\.0 \(doca_dpu0\); hardware: .*the DOCA 3\.1\.0105 here has no Comm Channel/,
    );
  }
});
