import { inspect } from 'node:util';
import { listDevices as listAll, openDevice as openAny } from '@verbs/core';
import { configure } from '@verbs/soft';
import { describe, expect, it } from 'vitest';
import {
  createFlowMatcher,
  getClockInfo,
  getDataDirectSysfsPath,
  isSupported,
  listDevices,
  openDevice,
  queryDevice,
  queryPort,
  tsToNs,
} from '../src/index.js';
import { failure, open, owned } from './helpers/devices.js';

describe('devices', () => {
  it('of the software NIC: one by default, and those of the configuration', () => {
    expect(listDevices().map(({ name, library }) => [name, library])).toEqual([['mlx5_soft0', 'soft']]);
    configure('soft0;nic_a,kind=mlx5;nic_b,kind=mlx5');
    expect(listDevices().map(({ name }) => name)).toEqual(['nic_a', 'nic_b']);
    expect(
      listAll()
        .filter((device) => !isSupported(device))
        .map(({ name }) => name),
    ).toEqual(['soft0']);
  });

  it('open by name, by entry, and by default the first', () => {
    configure('nic_a,kind=mlx5;nic_b,kind=mlx5');
    expect(owned(openDevice()).device.name).toBe('nic_a');
    expect(owned(openDevice('nic_b', { flags: 1 })).device.name).toBe('nic_b');
    const [first] = listDevices();
    expect(owned(openDevice(first)).device.name).toBe('nic_a');
  });

  it('that are not there, or not of this kind, are refused with what is there', () => {
    configure('nic_a,kind=mlx5;soft0');
    expect(failure(() => openDevice('nic_c'))).toMatchObject({ code: 'ENODEV', syscall: 'mlx5dv_open_device' });
    expect(() => openDevice('nic_c')).toThrow(/"nic_c": there are nic_a/);
    const other = listAll().find(({ name }) => name === 'soft0');
    expect(failure(() => openDevice(other)).code).toBe('EOPNOTSUPP');
    expect(failure(() => openDevice('nic_a', { flags: 0x8000_0000 as number })).code).toBe('EINVAL');
    expect(() => openDevice('nic_a', { flag: 1 } as never)).toThrow(/attr\.flag is not known here/);
  });

  it('opened by @verbs/core serve as well; contexts of other vendors do not', () => {
    configure('nic_a,kind=mlx5;soft0');
    expect(queryDevice(owned(openAny('nic_a'))).compMask).toBeTypeOf('bigint');
    const foreign = owned(openAny('soft0'));
    for (const call of [() => queryDevice(foreign), () => createFlowMatcher(foreign), () => getClockInfo(foreign)]) {
      expect(failure(call)).toMatchObject({ code: 'EOPNOTSUPP' });
      expect(call).toThrow(/on soft0: this is no mlx5 device/);
    }
  });
});

describe('queries', () => {
  it('tell what is there', () => {
    const ctx = open();
    expect(queryDevice(ctx)).toMatchObject({ cqeCompCaps: { maxNum: expect.any(Number) as number } });
    expect(queryPort(ctx, 1)).toMatchObject({ flags: expect.any(BigInt) as bigint });
    expect(failure(() => queryPort(ctx, 9)).code).toBe('EINVAL');
    expect(() => queryPort(ctx, -1)).toThrow(RangeError);
  });

  it('of a closed context throw', () => {
    const ctx = open();
    ctx.close();
    expect(failure(() => queryDevice(ctx)).code).toBe('ERR_VERBS_CLOSED');
    expect(() => queryDevice({} as never)).toThrow(/ctx must be a Context/);
  });

  it('of a path that the model does not have says so', () => {
    const ctx = open();
    expect(() => getDataDirectSysfsPath(ctx)).toThrow(/^EOPNOTSUPP/);
  });
});

describe('the clock', () => {
  it('turns ticks into nanoseconds, also those before it was read', () => {
    const info = { nsec: 1000n, lastCycles: 500n, frac: 3n, mult: 8, shift: 2, mask: 0xffffn };
    expect(tsToNs(info, 500n)).toBe(1000n);
    expect(tsToNs(info, 600n)).toBe(1200n);
    expect(tsToNs(info, 400n)).toBe(1000n - ((100n * 8n - 3n) >> 2n));
    // Past the counter's end.
    expect(tsToNs({ ...info, lastCycles: 0xfff0n }, 0x10n)).toBe(1000n + ((0x20n * 8n + 3n) >> 2n));
  });

  it('is that of the device', () => {
    const ctx = open();
    const [info, { rawClock }] = [getClockInfo(ctx), ctx.queryRtValues()];
    const behind = Date.now() * 1e6 - Number(tsToNs(info, rawClock));
    expect(Math.abs(behind)).toBeLessThan(60e9);
  });
});

it('a context shows what it is', () => {
  expect(inspect(open())).toContain('mlx5_soft0');
});
