import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configure } from '@verbs/soft';
import { describe, expect, it } from 'vitest';
import { formatGuid, listDevices, openDevice, probeLibraries, readSysfsFile, VerbsError } from '../../src/index.js';
import { native } from '../../src/base/native.js';
import { open } from '../helpers/devices.js';
import { programPath, run } from '../helpers/program.js';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));

describe('listDevices', () => {
  it('lists the software NIC, hardware first', () => {
    const list = listDevices();
    const soft = list.find(({ name }) => name === 'soft0');
    expect(soft).toMatchObject({ library: 'soft', nodeType: 1, transportType: 0 });
    expect(typeof soft?.guid).toBe('bigint');
    const kinds = list.map(({ library }) => library);
    expect(kinds).toEqual([...kinds].sort().reverse());
  });

  it('filters by library, and says why there is nothing', () => {
    expect(listDevices({ library: 'soft' }).every(({ library }) => library === 'soft')).toBe(true);
    const system = listDevices({ library: 'system' });
    // With hardware there are devices, without it there is a reason: never neither.
    expect(system.length > 0).toBe(system.reason === undefined);
  });

  it('refuses options that it does not know', () => {
    expect(() => listDevices({ libary: 'soft' } as never)).toThrow(/^options\.libary is not known here/);
    expect(() => openDevice('red', { libary: 'soft' } as never)).toThrow(/^options\.libary is not known here/);
    expect(() => openDevice('red', 5 as never)).toThrow(/^options must be an object/);
    expect(() => openDevice('red', { library: 'softt' as never })).toThrow(
      /^options\.library must be 'system' or 'soft'; received 'softt'/,
    );
  });

  it('has the devices of the configuration that are left out, each with its reason', () => {
    configure('red;strange0,kind=strange;gone0,kind=gone,model=/no/such/library.so');
    try {
      const list = listDevices({ library: 'soft' });
      expect(list.map(({ name }) => name)).toEqual(['red']);
      expect(list.leftOut?.map(({ name }) => name)).toEqual(['strange0', 'gone0']);
      expect(list.leftOut?.[0]?.reason).toMatch(/^no model of kind strange is loaded; load/);
      expect(Object.keys(list)).toEqual(['0']);
      expect(() => openDevice('strange0')).toThrow(/"strange0".*no model of kind strange is loaded/);
      expect(() => openDevice('green')).toThrow(/there are .*red/);
      configure('red');
      expect(listDevices().leftOut).toBeUndefined();
    } finally {
      configure(null);
    }
  });

  it('lists each device once when the drop-in library stands in for the system library', async () => {
    const [, soft] = probeLibraries();
    const dropIn = join(dirname(soft?.path ?? ''), 'dropin');
    const ended = await run(programPath('list.mjs'), { env: { LD_LIBRARY_PATH: dropIn } });
    expect(ended.stderr).toBe('');
    const { devices, system } = JSON.parse(ended.stdout) as { devices: object[]; system: { reason: string } };
    expect(devices).toEqual([{ name: 'soft0', library: 'soft' }]);
    expect(system.reason).toMatch(/is the software NIC/);
  });

  it('gives reasons and no exception where nothing is installed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbs-core-'));
    try {
      cpSync(join(PACKAGE, 'dist'), join(folder, 'dist'), { recursive: true });
      cpSync(
        join(PACKAGE, 'native/binding/build/Release/verbs_core.node'),
        join(folder, 'native/binding/build/Release/verbs_core.node'),
      );
      cpSync(programPath('list.mjs'), join(folder, 'list.mjs'));
      const ended = await run(join(folder, 'list.mjs'), {
        args: [join(folder, 'dist/index.js')],
        cwd: folder,
        env: { NODE_OPTIONS: '', NODE_PATH: '' },
      });
      expect(ended.stderr).toBe('');
      const { soft } = JSON.parse(ended.stdout) as { soft: { reason: string } };
      expect(soft.reason).toMatch(/npm install @verbs\/soft/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('openLibrary', () => {
  it('answers for a library that is missing or no libibverbs', () => {
    expect(native.openLibrary('libnone-such.so.9').reason).toMatch(/cannot open shared object file/);
    expect(native.openLibrary('libc.so.6').reason).toMatch(/ibv_get_device_list/);
  });
});

describe('openDevice', () => {
  it('opens by name, by entry and by default', () => {
    const [first] = listDevices();
    for (const device of [undefined, 'soft0', first]) {
      using ctx = openDevice(device);
      expect(ctx.device.name).toBe(typeof device === 'string' ? device : first?.name);
    }
  });

  it('names what is there when the device is not', () => {
    expect(() => openDevice('none9')).toThrow(/ENODEV.*"none9".*soft0/);
    expect(() => openDevice('soft0', { library: 'system' })).toThrow(VerbsError);
    // @ts-expect-error A number is no device.
    expect(() => openDevice(5)).toThrow(TypeError);
    // @ts-expect-error Nor is just any object.
    expect(() => openDevice({ name: 'soft0' })).toThrow(/device must be/);
  });
});

describe('device text', () => {
  it('prints GUIDs as the tools do', () => {
    expect(formatGuid(0x020000fffe000001n)).toBe('0200:00ff:fe00:0001');
  });

  it('reads what the device says of itself', () => {
    const { device } = open();
    expect(readSysfsFile(device, 'board_id')).toMatch(/\w/);
    expect(readSysfsFile(device, 'no_such_file')).toBeUndefined();
  });
});
