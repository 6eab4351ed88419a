// Junk in any place of any call gives an error that names the argument, or one of DOCA's, and never a crash.
import { expect, onTestFinished, test } from 'vitest';
import * as api from '../dist/index.js';
import { client, serve } from './helpers/devices.js';
import { isProper, junk } from './helpers/junk.js';

function connected() {
  const service = serve('junk');
  const endpoint = client();
  const peer = endpoint.connect('junk');
  service.recvFrom();
  return { service, endpoint, peer };
}

test('functions and constructors', async () => {
  for (const name of ['openDevice', 'openRepresentor', 'listRepresentors', 'setFaults', 'statusName'] as const) {
    for (const first of junk) {
      for (const second of [undefined, null, 5, 'x', {}]) {
        await isProper(name, () => (api[name] as (...args: unknown[]) => unknown)(first, second));
      }
    }
  }
  for (const value of junk) {
    expect(() => api.unavailableReason(value as never)).toThrow(/kind must be 'system' or 'soft'/);
    await isProper('new Endpoint', () => new api.Endpoint(value as never));
    for (const name of ['device', 'deviceRep', 'maxMsgSize', 'sendQueueSize', 'recvQueueSize', 'spin']) {
      await isProper(`new Endpoint({ ${name} })`, () => new api.Endpoint({ [name]: value }));
    }
  }
});

test('what describes a device is read once, and is not kept', () => {
  const [entry] = api.listDevices();
  let reads = 0;
  const restless = { ...entry };
  Object.defineProperty(restless, 'library', { get: () => (reads++ === 0 ? 'soft' : 'nothing of the kind') });
  using device = api.openDevice(restless as api.DeviceInfo);
  expect([reads, device.info]).toEqual([1, entry]);
});

test.each(['service', 'endpoint', 'peer'] as const)('methods and properties: %s', async (which) => {
  const all = connected();
  const target = all[which];
  const rejected: unknown[] = [];
  const note = (reason: unknown) => rejected.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => {
    process.off('unhandledRejection', note);
  });
  const prototype: object = which === 'peer' ? api.PeerAddr.prototype : api.Endpoint.prototype;
  let calls = 0;
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    const value: unknown = property.value;
    if (['constructor', 'close', 'gone', 'syscall'].includes(name)) continue;
    for (const first of junk) {
      if ('set' in property) await isProper(`${which}.${name} =`, () => Reflect.set(target, name, first));
      if (typeof value !== 'function') continue;
      for (const second of [undefined, all.peer, 5, { signal: 5 }]) {
        await isProper(`${which}.${name}()`, () => (value as () => unknown).apply(target, [first, second] as never));
        calls++;
      }
    }
  }
  expect(calls).toBeGreaterThan(300);
  expect(rejected).toEqual([]);
});
