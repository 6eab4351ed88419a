// Every option of the model's devices, within its documented range and outside.
import { listDevices } from '@verbs/core';
import { configure, lastError } from '@verbs/soft';
import { describe, expect, it } from 'vitest';
import { queryDevice } from '../src/index.js';
import { open } from './helpers/devices.js';

const ACCEPTED = {
  profile: ['gaudi', 'gaudi2'],
  ports: ['1', '2', '30', '32', '63'],
  closed_ports: ['0', '2', '0x1e', '0xfffffffffffffffe'],
};
const REJECTED = {
  profile: ['gaudi3', 'Gaudi', 'gaudi2 x'],
  ports: ['0', '64', '65', '-1', '4294967297', '0x4', '1.5', 'four'],
  closed_ports: ['1', '3', '-2', 'two', '0x', '1.5', '0x1fffffffffffffffe'],
};

const cases = (values: Record<string, string[]>) =>
  Object.entries(values).flatMap(([name, list]) => list.map((value) => `${name}=${value}`));

/** The message for a device that is not there for its options. */
function rejection(option: string): string | undefined {
  try {
    configure(`hbl_9,kind=hbl,${option}`);
  } catch (error) {
    return String(error);
  }
  return listDevices({ library: 'soft' }).some(({ name }) => name === 'hbl_9') ? undefined : lastError();
}

describe('the options of a device', () => {
  it.each(cases(ACCEPTED))('%s is taken', (option) => {
    configure(`hbl_0,kind=hbl,${option}`);
    const { portsMask } = queryDevice(open());
    const [, ports = '4'] = /^ports=(.*)$/.exec(option) ?? [];
    expect(portsMask).toBe(((1n << BigInt(ports)) - 1n) << 1n);
  });

  it.each(cases(REJECTED))('%s is rejected by its name', (option) => {
    expect(rejection(option)).toContain(option);
  });
});
