// Junk in any place of any call gives an error that names the argument, or one of DOCA's, and never a crash.
import { expect, onTestFinished, test } from 'vitest';
import * as api from '../dist/index.js';
import { client, serve } from './helpers/devices.js';

const fakes = [api.PeerAddr, api.Device, api.Representor].map(({ prototype }) => Object.create(prototype) as unknown);
const trap = new Proxy(
  {},
  {
    get() {
      throw new Error('a getter must not be trusted');
    },
  },
);
const junk: unknown[] = [
  ...[undefined, null, true, 0, -1, 1.5, NaN, Infinity, 2 ** 53, 7n, -1n, 2n ** 70n, '', 'x', '\0', Symbol('s')],
  ...[() => 1, {}, [], new Uint8Array(3), new Uint16Array(5000), new DataView(new ArrayBuffer(2)), trap, ...fakes],
  ...[{ signal: 5 }, { pciAddr: 5 }, { library: 'x', pciAddr: '', ibdevName: '' }, { handle: {}, library: {} }],
];

/** What the error of a call may look like. A promise that waits for good is none. */
async function isProper(what: string, call: () => unknown): Promise<void> {
  try {
    const result = call();
    if (result instanceof Promise) await Promise.race([result, new Promise((resolve) => setImmediate(resolve))]);
  } catch (error) {
    expect(error, what).toBeInstanceOf(Error);
    const { name, message, code } = error as Error & { code?: string };
    const ours = /must |is not known|not a handle of|is not KIND/.test(message) && code?.startsWith('ERR_') === true;
    const proper =
      name === 'DocaError' || ours || /a getter must|an object whose class|^Receiver must be/.test(message);
    expect([what, proper ? 'proper' : `${name}: ${message}`]).toEqual([what, 'proper']);
  }
}

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
    await isProper('new Endpoint', () => new api.Endpoint(value as never));
    for (const name of ['device', 'deviceRep', 'maxMsgSize', 'sendQueueSize', 'recvQueueSize', 'spin']) {
      await isProper(`new Endpoint({ ${name} })`, () => new api.Endpoint({ [name]: value }));
    }
  }
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
