import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';

// Folders with the libraries of DOCA 2.5 to 3.x, by the names of their functions. Each function returns NOT_SUPPORTED, so that
// what is seen is which names are looked for.

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  vi.unstubAllEnvs();
  vi.resetModules();
});

const header = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../native/include/${name}.h`, import.meta.url)), 'utf8');
/** The functions that a header declares. */
const declared = (...names: string[]) =>
  names.flatMap((name) => [...header(name).matchAll(/\b(doca_\w+)\((?!\*)/g)].map(([, found]) => found ?? ''));

const COMMON = declared('doca_dev');
const ENGINE = declared('doca_pe', 'doca_ctx', 'doca_mmap', 'doca_buf', 'doca_buf_inventory');
const COMCH = declared('doca_comch', 'doca_comch_consumer', 'doca_comch_producer');
const CHANNEL = declared('doca_comm_channel');
/** By the names of 2.5 and 2.6. */
const CC = COMCH.map((name) => name.replace('doca_comch_', 'doca_cc_')).filter(
  (name) => name !== 'doca_cc_server_event_connection_status_changed_register',
);

type Libraries = Record<string, string[]>;

/** Libraries by the part of their names behind `libdoca_`, with their functions; `common` tells the version. */
async function packageWith(version: string, libraries: Libraries) {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-doca-'));
  folders.push(folder);
  for (const [name, functions] of Object.entries(libraries)) {
    const told = version !== '' && name === 'common';
    const lines = [...new Set(functions)].map((each) => `int ${each}(void) { return 4; }`);
    if (told) lines.push(`const char *doca_version_runtime(void) { return "${version}"; }`);
    const file = join(folder, `libdoca_${name}.so.2`);
    execFileSync('cc', ['-shared', '-fPIC', '-x', 'c', '-o', file, '-'], { input: `${lines.join('\n')}\nint none;` });
  }
  vi.stubEnv('VERBS_DOCA_LIBRARY_DIR', folder);
  // What the machine has is not asked for.
  vi.stubEnv('VERBS_DOCA_API', undefined);
  vi.resetModules();
  return import('../src/index.js');
}
const systemOf = async (version: string, libraries: Libraries) => {
  const { probeLibraries, unavailableReason, vendorLibrary } = await packageWith(version, libraries);
  return { ...probeLibraries()[0], reason: unavailableReason('system'), report: vendorLibrary() };
};
const without = (all: string[], ...missing: string[]) => all.filter((name) => !missing.includes(name));

it('DOCA 3.x has Comch alone: its functions by their newest names', async () => {
  const found = await systemOf('3.1.0105', { common: [...COMMON, ...ENGINE], comch: COMCH });
  expect(found).toMatchObject({ chosen: 'comch', why: 'there is no Comm Channel here' });
  expect(found.apis).toEqual([
    { api: 'comch', functions: 'doca_comch_' },
    { api: 'comm-channel', reason: expect.stringMatching(/libdoca_comm_channel\.so\.2: cannot open/) as string },
  ]);
  expect(found.reason).toBe('the library lists no device');
  expect(found.report).toMatchObject({
    release: 'DOCA 3.1.0105',
    text: 'drives Comch: there is no Comm Channel here',
    file: expect.stringMatching(/libdoca_common\.so\.2$/) as string,
  });
});

it('DOCA 2.7 has both: Comch is the newer one, and a variable says otherwise', async () => {
  const libraries = { common: [...COMMON, ...ENGINE], comch: COMCH, comm_channel: CHANNEL };
  expect(await systemOf('2.7.0085', libraries)).toMatchObject({ chosen: 'comch', why: 'it is the newer one' });
  const { apiOf, loadLibrary } = await import('../src/base/libraries.js');
  vi.stubEnv('VERBS_DOCA_API', 'comm-channel');
  const library = loadLibrary('system');
  if ('reason' in library) throw new Error(library.reason);
  expect(apiOf(library)).toEqual({ api: 'comm-channel', why: 'VERBS_DOCA_API says so' });
  expect(apiOf(library, 'comch')).toEqual({ api: 'comch', why: 'the program asks for it' });
  vi.stubEnv('VERBS_DOCA_API', 'sockets');
  expect(() => apiOf(library)).toThrow(/BAD_CONFIG.*VERBS_DOCA_API is "sockets"; it must be comch or comm-channel/);
});

it('DOCA 2.5 has Comch under the name of cc, with an older name of the connection events', async () => {
  const common = [...COMMON, ...ENGINE];
  expect(await systemOf('2.5.0108', { common, cc: CC })).toMatchObject({
    chosen: 'comch',
    apis: [{ api: 'comch', functions: 'doca_cc_' }, { api: 'comm-channel' }],
  });
});

it('a function that is missing is named, and the other API is taken', async () => {
  const common = [...COMMON, ...ENGINE];
  const comch = without(COMCH, 'doca_comch_client_as_ctx');
  const found = await systemOf('2.8.0081', { common, comch, comm_channel: CHANNEL });
  expect(found).toMatchObject({ chosen: 'comm-channel' });
  expect(found.why).toMatch(
    /there is no Comch here: .*libdoca_comch\.so\.2: it has no function doca_comch_client_as_ctx: it is no Comch of DOCA 2\.5/,
  );
  const cc = without(CC, 'doca_cc_server_event_connection_register');
  expect((await systemOf('2.6.0', { common, cc })).reason).toMatch(
    /it has no function doca_cc_server_event_connection_status_changed_register/,
  );
  const engine = without(common, 'doca_pe_request_notification');
  expect((await systemOf('3.2.0', { common: engine, comch: COMCH })).reason).toMatch(
    /it has no function doca_pe_request_notification: it is no libdoca_common of 2\.5 or later/,
  );
  const devices = without(common, 'doca_dev_open');
  expect((await systemOf('3.2.0', { common: devices, comch: COMCH })).reason).toMatch(/has no function doca_dev_open/);
});

it('a Comch without a fast path is used without it', async () => {
  const common = without([...COMMON, ...ENGINE], 'doca_mmap_start');
  const found = await systemOf('3.1.0105', { common, comch: COMCH });
  expect(found).toMatchObject({
    chosen: 'comch',
    apis: [{ reason: expect.stringMatching(/has no function doca_mmap_start/) as string }, {}],
  });
});

it('an API that is asked for and missing is an error that says why', async () => {
  const common = [...COMMON, ...ENGINE];
  const { apiOf, loadLibrary } = await packageWith('3.1.0105', { common, comch: COMCH }).then(
    () => import('../src/base/libraries.js'),
  );
  const library = loadLibrary('system');
  if ('reason' in library) throw new Error(library.reason);
  expect(() => apiOf(library, 'comm-channel')).toThrow(
    /NOT_SUPPORTED.*there is no Comm Channel here: .*libdoca_comm_channel/,
  );
});

it('a DOCA with neither is named with the remedy, and one that tells no version as well', async () => {
  const { reason } = await systemOf('3.5.0', { common: [...COMMON, ...ENGINE] });
  expect(reason).toMatch(
    /the DOCA 3\.5\.0 here has neither Comch nor a Comm Channel that can be used: .*doca-sdk-comch/,
  );
  expect((await systemOf('', { common: COMMON })).reason).toMatch(/; the DOCA here has neither/);
  expect((await systemOf('2.2.0', { common: COMMON })).reason).toMatch(/has no Comm Channel .*doca-sdk-comm-channel/);
});

it('without any DOCA the remedy is to install one', async () => {
  const { reason, report } = await systemOf('', {});
  expect(reason).toMatch(/: install DOCA 1\.5 or later, or name its directory/);
  expect(report).toMatchObject({ name: 'DOCA', text: 'no libdoca_common is here' });
});

it("with DOCA 3, a card's address opens nothing, and the error says why", async () => {
  const { openDevice } = await packageWith('3.1.0105', { common: [...COMMON, ...ENGINE], comch: COMCH });
  // Those of BlueFields in a host and in the card itself, by each way to write them.
  for (const address of ['0000:03:00.0', '03:00.0', '0000:3b:00.0', '3B:00.0', '0000:af:00.1']) {
    expect(() => openDevice(address)).toThrow(
      /NOT_FOUND.*there is no device .*; there are: 5f5f:3b:00\.0 \(doca_host0\), 5f5f:03:00\.0 \(doca_dpu0\); hardware: /,
    );
  }
});
