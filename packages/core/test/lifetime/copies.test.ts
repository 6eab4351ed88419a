import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Native } from '../../src/base/native.js';
import { native } from '../../src/base/native.js';
import { kHandle } from '../../src/base/symbols.js';
import { bench } from '../helpers/devices.js';

const folder = mkdtempSync(join(tmpdir(), 'verbs-copies-'));
afterEach(() => {
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
    () => copy.allocMr(pd[kHandle], 4096, 1, undefined),
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
