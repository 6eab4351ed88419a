import { createRequire } from 'node:module';
import { handleOf } from '@verbs/core/provider';
import { expect, it } from 'vitest';
import { createEncap, EncapType, openDevice, softModel } from '../dist/index.js';

type Native = Record<string, (...args: unknown[]) => unknown>;

// Below the package's TypeScript, which lets no such arguments pass.
it('a call of the addon ends at the first argument that is wrong, before the C function', () => {
  using context = openDevice();
  const native = createRequire(import.meta.url)('../native/binding/build/Release/verbs_hbl.node') as Native;
  const { handle: library } = native['openLibrary']?.(softModel.library) as { handle: unknown };
  const handle = handleOf(context, 'Context', 'context', 'test');
  const wrongType = (message: string): unknown =>
    expect.objectContaining({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE', message });
  const call = (name: string, ...args: unknown[]) => {
    try {
      return native[name]?.(library, ...args);
    } catch (error) {
      return error;
    }
  };

  expect(call('queryPort', handle, 1)).toMatchObject({ maxNumOfQps: expect.any(Number) as number });
  expect(call('queryPort', handle, '1')).toEqual(wrongType('A number was expected'));
  expect(call('queryPort', {}, 1)).toEqual(
    wrongType('the native handle is not a verbs object of this copy of @verbs/core'),
  );
  expect(native['queryPort']).toThrow(wrongType('the native handle is not a libhbl'));

  const encap = { portNum: 1, encapType: EncapType.NO_ENC, ipv4Addr: 0, l4: 0, header: undefined };
  expect(call('createEncap', handle, 5)).toEqual(wrongType('An object was expected'));
  expect(call('createEncap', handle, { ...encap, header: 5 })).toEqual(wrongType('A Uint8Array was expected'));
  const own = new Error('of a getter');
  const trap = {
    ...encap,
    get encapType() {
      throw own;
    },
  };
  expect(call('createEncap', handle, trap)).toBe(own);
  // None of them has taken a number.
  using first = createEncap(context, { portNum: 1, encapType: EncapType.NO_ENC });
  expect(first.encapNum).toBe(0);
});
