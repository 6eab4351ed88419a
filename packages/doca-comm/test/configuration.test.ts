// Every option of the model's devices, within its documented range and outside.
import { configure, lastError } from '@verbs/soft';
import { afterAll, describe, expect, it } from 'vitest';
import { Endpoint, listDevices, openDevice, openRepresentor, Server } from '../src/index.js';

const ACCEPTED = [
  'role=host',
  'role=dpu',
  'pci=5f5f:3b:00.0',
  'pci=3B:00.1',
  'role=dpu,reps=5f5f:3b:00.0',
  'role=dpu,reps=5f5f:3b:00.0@10.0.0.2|3b:00.1@fd00::2',
  'dpu=10.0.0.1',
  'dpu=fd00::1',
  'max_connections=1',
  'max_connections=4096',
  'max_per_client=1',
  'max_per_client=512',
  'max_connections=8,max_per_client=8',
];
const REJECTED = [
  'role=guest',
  'role=DPU',
  'pci=3b:00',
  'pci=5f5f:3b:00.g',
  'pci=5f5f:3b:00.0.0',
  'role=dpu,reps=3b',
  'role=dpu,reps=3b:00.0|3b:00.0',
  'role=dpu,reps=3b:00.0@nowhere',
  'role=dpu,reps=3b:00.0@10.0.0.2@10.0.0.3',
  'dpu=nowhere',
  'max_connections=0',
  'max_connections=4097',
  'max_connections=-1',
  'max_connections=4294967297',
  'max_connections=many',
  'max_per_client=0',
  'max_per_client=513',
  'max_connections=8,max_per_client=9',
];

afterAll(() => {
  configure(null);
});

const listedWith = (options: string) => {
  configure(`doca_fn0,kind=doca,${options}`);
  return listDevices().some(({ ibdevName }) => ibdevName === 'doca_fn0');
};

describe('the options of a device', () => {
  it.each(ACCEPTED)('%s is taken', (options) => {
    expect(listedWith(options)).toBe(true);
  });

  it.each(REJECTED)('%s is rejected by its name', (options) => {
    expect(listedWith(options)).toBe(false);
    for (const option of options.split(',')) expect(lastError()).toContain(option);
  });
});

it("another DPU's representor: the error of either API says so", () => {
  configure('doca_dpu0,kind=doca,role=dpu;doca_dpu1,kind=doca,role=dpu,pci=5f5f:04:00.0,reps=5f5f:3b:00.1');
  for (const api of ['comch', 'comm-channel'] as const) {
    using device = openDevice('doca_dpu0', { api });
    using other = openDevice('doca_dpu1', { api });
    using deviceRep = openRepresentor(other, '5f5f:3b:00.1');
    using endpoint = new Endpoint({ device, deviceRep });
    expect(() => {
      endpoint.listen('other');
    }).toThrow(/BAD_STATE.*a service needs a device and a representor of it$/);
    if (api === 'comm-channel') continue;
    const create = () => new Server({ device, deviceRep, name: 'other' });
    expect(create).toThrow(/NOT_PERMITTED.*deviceRep is of another device than options\.device/);
  }
});
