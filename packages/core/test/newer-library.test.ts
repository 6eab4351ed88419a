import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { library as softLibrary } from '@verbs/soft';
import { native, type NativeHandle } from '../src/base/native.js';
import { bench } from './helpers/devices.js';

const folder = mkdtempSync(join(tmpdir(), 'verbs-newer-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A libibverbs.so.1 with functions of version 62 in front of the software NIC's. */
function newerLibrary(): string {
  const source = join(folder, 'newer.c');
  const map = join(folder, 'newer.map');
  const library = join(folder, 'libibverbs.so.1');
  writeFileSync(
    source,
    `#include <errno.h>
#include <stdint.h>
#include <unistd.h>
int ibv_query_port_speed(void *context, uint32_t port, uint64_t *speed) {
  if (context == 0 || port != 1) return EINVAL;
  *speed = 1ull << 40;
  return 0;
}
int ibv_dm_export_dmabuf_fd(void *dm) {
  if (dm == 0) { errno = EINVAL; return -1; }
  return dup(1);
}
`,
  );
  writeFileSync(map, 'IBVERBS_1.16 { global: ibv_query_port_speed; ibv_dm_export_dmabuf_fd; local: *; };\n');
  execFileSync('gcc', [
    ...['-shared', '-fPIC', '-o', library, source, `-Wl,--version-script=${map}`, '-Wl,--no-as-needed'],
    `-Wl,-rpath,${dirname(softLibrary)}`,
    softLibrary,
  ]);
  return library;
}

it('calls functions that only a newer libibverbs has', () => {
  const { handle, reason } = native.openLibrary(newerLibrary());
  if (handle === undefined) throw new Error(reason);
  const context = native.openDevice(handle, 'soft0') as NativeHandle;
  const dm = native.allocDm(context, 64, 0) as { handle: NativeHandle };
  try {
    expect(native.queryPortSpeed(context, 1)).toBe(1n << 40n);
    expect(native.queryPortSpeed(context, 2)).toBe(-22);
    const fd = native.exportDmFd(dm.handle);
    expect(fd).toBeGreaterThan(2);
    closeSync(fd);
  } finally {
    expect(native.close(context)).toBe(0);
  }
});

it('says so where the library is older', () => {
  const { ctx } = bench();
  expect(() => ctx.queryPortSpeed(1)).toThrow(
    expect.objectContaining({ code: 'EOPNOTSUPP', syscall: 'ibv_query_port_speed' }),
  );
  expect(() => ctx.queryPortSpeed(0)).toThrow(/^portNum must be/);
  expect(() => ctx.allocDm(64).exportDmabufFd()).toThrow(
    expect.objectContaining({ code: 'EOPNOTSUPP', syscall: 'ibv_dm_export_dmabuf_fd' }),
  );
});
