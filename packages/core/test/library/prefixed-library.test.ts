import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { library as softLibrary } from '@verbs/soft';
import { afterAll, expect, it } from 'vitest';
import { native } from '../../src/base/native.js';
import { Context } from '../../src/device/context.js';
import { devicesIn } from '../../src/library/libraries.js';
import { SendFlags, WrOpcode } from '../../src/index.js';
import { ALL_ACCESS, pair, take } from '../helpers/devices.js';

// A build of libibverbs with other names, as the Gaudi SDK brings one: hlibv_open_device for ibv_open_device.

const folder = mkdtempSync(join(tmpdir(), 'verbs-prefixed-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function compile(name: string, ...options: string[]): string {
  const [source, file] = [join(folder, `${name}.c`), join(folder, `${name}.so`)];
  writeFileSync(
    source,
    `#include "prefixed_verbs.h"
int hlibv_query_device(void *context, void *attr) {
  return ((int (*)(void *, void *))verbs("ibv_query_device"))(context, attr);
}
`,
  );
  const shared = join(import.meta.dirname, '../shared');
  execFileSync('cc', ['-shared', '-fPIC', '-o', file, source, `-I${shared}`, `-DVERBS="${softLibrary}"`, ...options]);
  return file;
}

it('is used by those names alone, from the list of devices to completions', async () => {
  const library = native.openLibrary(compile('whole'), 'hl');
  if (library.reason !== undefined) throw new Error('it does not load');
  const { handle, soft } = library;
  // It is a vendor's: whose devices these are in truth, it does not tell.
  expect(soft).toBe(false);
  const [device] = devicesIn('system', handle);
  expect(device).toMatchObject({ name: 'soft0', library: 'system' });
  const opened = native.openDevice(handle, 'soft0');
  if (device === undefined || typeof opened === 'number') throw new Error('it does not open');
  using ctx = new Context(device, opened);
  const pd = ctx.allocPd();
  const cq = ctx.createCq(16, { channel: ctx.createCompChannel() });
  const mr = pd.allocMr(64, ALL_ACCESS);
  const [one] = pair({ ctx, pd, cq });
  mr.bytes.set(Buffer.from('by other names'));
  one.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: SendFlags.SIGNALED,
    sgList: [{ mr, length: 14 }],
    remoteAddr: mr.addr + 32n,
    rkey: mr.rkey,
  });
  await take(cq, 1);
  expect(Buffer.from(mr.bytes.slice(32, 46)).toString()).toBe('by other names');
});

it('need not have the functions that any other library has: texts, rates, fork()', () => {
  const { handle } = native.openLibrary(compile('texts'), 'hl');
  if (handle === undefined) throw new Error('it does not load');
  const missing = /this library has no such function/;
  expect(() => native.wcStatusText(handle, 0)).toThrow(missing);
  expect(() => native.rateToMult(handle, 0)).toThrow(missing);
  expect(() => native.forkInit(handle)).toThrow(missing);
  expect(native.isForkInitialized(handle)).toBe(-95);
  expect(native.readSysfsFile(handle, '/sys', 'kernel')).toBe(-1);
});

it('names the function that is missing', () => {
  expect(native.openLibrary(compile('less', '-DLESS'), 'hl').reason).toMatch(
    /less\.so has no function hlibv_destroy_ah$/,
  );
  expect(native.openLibrary(softLibrary, 'hl').reason).toMatch(/has no function hlibv_get_device_list$/);
});
