import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { library as softLibrary } from '@verbs/soft';
import { afterAll, expect, it } from 'vitest';
import { native } from '../../src/base/native.js';
import { Context } from '../../src/device/context.js';
import { devicesIn } from '../../src/library/libraries.js';
import { AccessFlags, WrOpcode } from '../../src/index.js';

// A libibverbs before release 45: the software NIC's, without the functions that came later.

const folder = mkdtempSync(join(tmpdir(), 'verbs-older-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function openOlder(): Context {
  const [source, file] = [join(folder, 'older.c'), join(folder, 'older.so')];
  writeFileSync(
    source,
    `#include "prefixed_verbs.h"
VERB(ibv_query_device)
`,
  );
  const shared = join(import.meta.dirname, '../shared');
  execFileSync('cc', ['-shared', '-fPIC', '-o', file, source, `-I${shared}`, `-DVERBS="${softLibrary}"`]);
  const { handle } = native.openLibrary(file, 'hl');
  if (handle === undefined) throw new Error('it does not load');
  const [device] = devicesIn('system', handle);
  const opened = native.openDevice(handle, 'soft0');
  if (device === undefined || typeof opened === 'number') throw new Error('it does not open');
  expect(native.wrOpcodeText(handle, WrOpcode.SEND)).toBeUndefined();
  return new Context(device, opened);
}

it('says which release has a function that it does not have', () => {
  using ctx = openOlder();
  const pd = ctx.allocPd();
  const dm = ctx.allocDm(64);
  const view = new SharedArrayBuffer(64);
  const calls: [string, number, () => unknown][] = [
    ['ibv_alloc_dmah', 59, () => ctx.allocDmah({ ph: 0 })],
    ['ibv_reg_mr_ex', 59, () => pd.regMrEx({ view, access: AccessFlags.LOCAL_WRITE })],
    ['ibv_query_port_speed', 62, () => ctx.queryPortSpeed(1)],
    ['ibv_dm_export_dmabuf_fd', 62, () => dm.exportDmabufFd()],
    ['ibv_alloc_buf', 64, () => pd.allocBuf(64)],
    ['ibv_query_comp_cntr_caps', 65, () => ctx.queryCompCntrCaps()],
    ['ibv_create_comp_cntr', 65, () => ctx.createCompCntr()],
  ];
  for (const [syscall, release, call] of calls) {
    expect(call).toThrow(expect.objectContaining({ code: 'EOPNOTSUPP', syscall }));
    expect(call).toThrow(new RegExp(`release ${release}`));
  }
});
