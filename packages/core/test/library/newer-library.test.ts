import { closeSync } from 'node:fs';
import { expect, it } from 'vitest';
import { native, type NativeHandle } from '../../src/base/native.js';
import { bench } from '../helpers/devices.js';
import { type Context, QpType, WrOpcode, wrOpcodeText } from '../../src/index.js';
import { fakeLibrary, openHandle, openThrough } from '../helpers/fake-library.js';

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
    expect(native.close(context)).toBeUndefined();
  }
});

/** Structures that are longer than any that is known: by `LONGER` bytes behind the longest. */
const longerStructures = (longer: number) => ({
  source: `#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <string.h>
static void *real(const char *name) {
  static void *library;
  if (!library) library = dlopen(SOFT, RTLD_NOW | RTLD_LOCAL);
  return dlsym(library, name);
}
#define ANSWER(name, structure, parameters, arguments, filled) \\
  int name parameters { \\
    int error = ((int (*) parameters)real(#name)) arguments; \\
    memset((char *)filled + sizeof(structure), 0x11, ${longer}); \\
    return error; \\
  }
ANSWER(ibv_query_device, struct ibv_device_attr, (struct ibv_context *c, struct ibv_device_attr *a), (c, a), a)
ANSWER(ibv_query_srq, struct ibv_srq_attr, (struct ibv_srq *s, struct ibv_srq_attr *a), (s, a), a)
ANSWER(ibv_query_qp, struct ibv_qp_attr,
       (struct ibv_qp *q, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *i), (q, a, mask, i), a)
`,
  exports: { version: 'IBVERBS_1.1', functions: ['ibv_query_device', 'ibv_query_srq', 'ibv_query_qp'] },
});

function queries(ctx: Context): (() => unknown)[] {
  const pd = ctx.allocPd();
  const cq = ctx.createCq(4);
  const srq = pd.createSrq({ maxWr: 4 });
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
  return [() => ctx.queryDevice(), () => srq.query(), () => qp.query()];
}

it('takes structures that are longer than any that is known, and notices those that are far too long', () => {
  using some = openThrough(fakeLibrary(longerStructures(200)));
  for (const query of queries(some)) expect(query).not.toThrow();
  using many = openThrough(fakeLibrary(longerStructures(256)));
  for (const query of queries(many)) {
    expect(query).toThrow(
      /^EPROTO.*the library fills a longer structure than this version of @verbs\/core has room for/,
    );
  }
});

it('takes those of the software NIC', () => {
  const { ctx } = bench();
  // In units of 100 Mb/s.
  expect(ctx.queryPortSpeed(1)).toBeGreaterThan(0n);
  expect(() => ctx.queryPortSpeed(0)).toThrow(/^portNum must be/);
  const { activeSpeed, activeSpeedEx } = ctx.queryPort(1);
  expect(activeSpeedEx).toBe(activeSpeed);
  expect([WrOpcode.RDMA_WRITE, WrOpcode.FLUSH].map(wrOpcodeText)).toEqual(['rdma-write', 'flush']);
  const fd = ctx.allocDm(64).exportDmabufFd();
  expect(fd).toBeGreaterThan(2);
  closeSync(fd);
});
