import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

// Found under the names of DOCA 1.5, before the package looks for libraries.
const directory = mkdtempSync(join(tmpdir(), 'verbs-doca-'));
const library = fileURLToPath(new URL('../build/bin/old_release.so', import.meta.url));
for (const name of ['common', 'comm_channel']) symlinkSync(library, join(directory, `libdoca_${name}.so.1`));
process.env['VERBS_DOCA_LIBRARY_DIR'] = directory;
const { Client, Endpoint, listDevices, openDevice } = await import('../dist/index.js');

afterAll(() => {
  rmSync(directory, { recursive: true });
});

test('a library of 1.5: found by its old names, devices by the bit-fields of their PCI address', () => {
  expect(listDevices().filter((info) => info.library === 'system')).toEqual([
    {
      library: 'system',
      pciAddr: expect.stringContaining('af:1e.5') as string,
      ibdevName: '',
      ifaceName: '',
      hasRepresentors: false,
    },
  ]);
});

test('functions that 1.5 lacks are reported as absent, its errors as they are', () => {
  const info = listDevices().find(({ library }) => library === 'system');
  if (info === undefined) throw new Error('it is not listed');
  const device = openDevice(info);
  const endpoint = new Endpoint({ device });
  expect(endpoint.update()).toBeUndefined();
  expect(() => endpoint.connect('any')).toThrow(expect.objectContaining({ code: 'DOCA_ERROR_NOT_SUPPORTED' }));
  expect(() => new Client({ device, name: 'any' })).toThrow(
    /NOT_SUPPORTED, doca_comch_client_create.*the device's libraries have no Comch/,
  );
  endpoint.close();
  device.close();
});

test("an address that is another peer's after a disconnect in the background has a number of its own", async () => {
  const info = listDevices().find(({ library }) => library === 'system');
  if (info === undefined) throw new Error('it is not listed');
  const device = openDevice(info);
  const endpoint = new Endpoint({ device });
  const gone = endpoint.disconnectAsync(endpoint.connect('reused'));
  const next = endpoint.connect('reused');
  await gone;
  expect(next.connected).toBe(true);
  endpoint.disconnect(next);
  expect(next.connected).toBe(false);
  endpoint.close();
  device.close();
});

test('the software BlueField is there beside it', () => {
  expect(listDevices().filter((info) => info.library === 'soft')).toHaveLength(2);
});
