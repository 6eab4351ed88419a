// What no caller should pass, and what it gets.
import { expect } from 'vitest';
import * as api from '../../dist/index.js';

const fakes = [api.PeerAddr, api.Device, api.Representor].map(({ prototype }) => Object.create(prototype) as unknown);
const trap = new Proxy(
  {},
  {
    get() {
      throw new Error('a getter must not be trusted');
    },
  },
);
export const junk: unknown[] = [
  ...[undefined, null, true, 0, -1, 1.5, NaN, Infinity, 2 ** 53, 7n, -1n, 2n ** 70n, '', 'x', '\0', Symbol('s')],
  ...[() => 1, {}, [], new Uint8Array(3), new Uint16Array(5000), new DataView(new ArrayBuffer(2)), trap, ...fakes],
  ...[{ signal: 5 }, { pciAddr: 5 }, { library: 'x', pciAddr: '', ibdevName: '' }, { handle: {}, library: {} }],
];

/** What the error of a call may look like. A promise that waits for good is none. */
export async function isProper(what: string, call: () => unknown): Promise<void> {
  try {
    const result = call();
    if (result instanceof Promise) await Promise.race([result, new Promise((resolve) => setImmediate(resolve))]);
  } catch (error) {
    expect(error, what).toBeInstanceOf(Error);
    const { name, message, code } = error as Error & { code?: string };
    const ours =
      /must |is not known|the native handle is not|is not KIND/.test(message) && code?.startsWith('ERR_') === true;
    const proper =
      name === 'DocaError' || ours || /a getter must|an object whose class|^Receiver must be/.test(message);
    expect([what, proper ? 'proper' : `${name}: ${message}`]).toEqual([what, 'proper']);
  }
}
