import { closeSync } from 'node:fs';
import { expect, it } from 'vitest';
import { native, type NativeHandle } from '../../src/base/native.js';
import { bench } from '../helpers/devices.js';
import { fakeLibrary, openHandle } from '../helpers/fake-library.js';

/** A libibverbs.so.1 with functions of version 62 in front of the software NIC's. */
const newerLibrary = {
  source: `#include <errno.h>
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
  exports: { version: 'IBVERBS_1.16', functions: ['ibv_query_port_speed', 'ibv_dm_export_dmabuf_fd'] },
};

it('calls functions that only a newer libibverbs has', () => {
  const context = openHandle(fakeLibrary(newerLibrary));
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

it('takes those of the software NIC', () => {
  const { ctx } = bench();
  // In units of 100 Mb/s.
  expect(ctx.queryPortSpeed(1)).toBeGreaterThan(0n);
  expect(() => ctx.queryPortSpeed(0)).toThrow(/^portNum must be/);
  const fd = ctx.allocDm(64).exportDmabufFd();
  expect(fd).toBeGreaterThan(2);
  closeSync(fd);
});
