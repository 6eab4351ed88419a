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
const { Endpoint, listDevices, openDevice } = await import('../dist/index.js');

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
  endpoint.close();
  device.close();
});

test('the software BlueField is there beside it', () => {
  expect(listDevices().filter((info) => info.library === 'soft')).toHaveLength(2);
});
