import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Native } from '../../src/base/native.js';
import { AccessFlags, QpType } from '../../src/index.js';
import { native } from '../../src/base/native.js';
import { kCopy, kHandle } from '../../src/base/symbols.js';
import { handleOf } from '../../src/lifetime/resource.js';
import { bench } from '../helpers/devices.js';

const folder = mkdtempSync(join(tmpdir(), 'verbs-copies-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it('refuses the handles of another copy of the addon, which may be of another version', () => {
  const require = createRequire(import.meta.url);
  const path = join(folder, 'verbs_core.node');
  copyFileSync(require.resolve('../../native/binding/build/Release/verbs_core.node'), path);
  const copy = require(path) as Native;
  expect(copy).not.toBe(native);
  const { ctx, pd } = bench();
  for (const call of [
    () => copy.queryDevice(ctx[kHandle]),
    () => copy.close(pd[kHandle]),
    () => copy.allocMr(pd[kHandle], 4096, 1, undefined, false),
  ]) {
    expect(call).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_ARG_TYPE',
        message: expect.stringMatching(/copy of @verbs\/core/) as string,
      }),
    );
  }
  expect(pd.closed).toBe(false);
  pd.close();
});

it('refuses the objects of another copy of the package, and names both', () => {
  const { pd, cq } = bench();
  const mr = pd.allocMr(64, AccessFlags.LOCAL_WRITE);
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
  qp.init();
  // Another copy's object has that copy's addon.
  const theirs = { [Symbol.for('@verbs/native-files.folder')]: '/app/node_modules/b/node_modules/@verbs/core' };
  const foreign = <T extends object>(object: T): T =>
    new Proxy(object, {
      get: (target, key) => (key === kCopy ? theirs : (Reflect.get(target, key, target) as unknown)),
    });
  expect(() => handleOf(foreign(pd), 'ProtectionDomain', 'pd', 'test')).toThrow(
    expect.objectContaining({
      code: 'ERR_INVALID_ARG_TYPE',
      message: expect.stringMatching(
        /^pd must be a ProtectionDomain of the @verbs\/core in \/.*, and not of the copy in \/app\/.*"npm ls @verbs\/core"/,
      ) as string,
    }),
  );
  qp.postRecv({ sgList: [{ mr }] });
  // Its ids are its own: they would name other memory here.
  expect(() => {
    qp.postRecv({ sgList: [{ mr: foreign(mr) }] });
  }).toThrow(/sgList\[0\]\.mr must be a MemoryRegion/);
  pd.close();
});
