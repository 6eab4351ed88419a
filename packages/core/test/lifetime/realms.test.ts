import { createContext, runInContext } from 'node:vm';
import { expect, it } from 'vitest';
import * as core from '../../src/index.js';
import { ALL_ACCESS, bench, pair, QKEY, take } from '../helpers/devices.js';

it('takes buffers, arrays, objects and errors of another realm', async () => {
  const b = bench();
  const [one, two] = pair(b);
  const realm = createContext({ ...core, ...b, one, two, ALL_ACCESS, QKEY });
  const made = runInContext(
    `{
      const shared = new SharedArrayBuffer(4096);
      const mr = pd.regMr(new Uint8Array(shared, 64, 128), ALL_ACCESS);
      mr.bytes.set([1, 2, 3]);
      two.postRecv([{ wrId: 1, sgList: [{ mr, offset: 64, length: 64 }] }]);
      one.postSend({ opcode: WrOpcode.SEND, sgList: [{ mr, length: 3 }] });
      const dgid = new Uint8Array(16);
      dgid.set([255, 255, 127, 0, 0, 1], 10);
      const ah = pd.createAh({ portNum: 1, grh: { dgid } });
      const errors = [];
      for (const call of [() => pd.createAh({ portNum: 0 }), () => pd.createAh([]), () => pd.createAh({ portNum: 1 })]) {
        try { call(); } catch (error) { errors.push(error); }
      }
      ({ shared, mr, ah, errors });
    }`,
    realm,
  ) as { shared: SharedArrayBuffer; mr: core.MemoryRegion; ah: core.AddressHandle; errors: Error[] };
  expect((await take(b.cq, 1))[0]).toMatchObject({ wrId: 1, ok: true, byteLen: 3 });
  expect([...new Uint8Array(made.shared, 128, 3)]).toEqual([1, 2, 3]);
  expect(made.mr.length).toBe(128);
  expect(made.ah.attr.grh.dgid).toBe('::ffff:127.0.0.1');
  expect(made.errors.map(({ name }) => name)).toEqual(['RangeError', 'TypeError', 'VerbsError']);
});
