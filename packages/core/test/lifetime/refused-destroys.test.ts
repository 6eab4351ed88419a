// Destroy functions that fail: of a device that was removed, or of a child of what is closed.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { AccessFlags, QpType } from '../../src/index.js';
import { fakeLibrary, openThrough } from '../helpers/fake-library.js';

const folder = mkdtempSync(join(tmpdir(), 'verbs-removed-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** There, when the device is removed; when regions cannot be deregistered. */
const [removed, busy] = ['removed', 'busy'].map((name) => join(folder, name)) as [string, string];

/** After its removal the kernel answers EIO. The library behind still counts the objects: EBUSY for their parents. */
const library = {
  source: `#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>
#include <infiniband/verbs.h>
static int is(const char *path) { return access(path, F_OK) == 0; }
static void *real(const char *name) { return dlvsym(dlopen(SOFT, RTLD_NOW), name, "IBVERBS_1.1"); }
int ibv_destroy_cq(struct ibv_cq *cq) {
  return is("${removed}") ? EIO : ((int (*)(struct ibv_cq *))real("ibv_destroy_cq"))(cq);
}
int ibv_destroy_qp(struct ibv_qp *qp) {
  return is("${removed}") ? EIO : ((int (*)(struct ibv_qp *))real("ibv_destroy_qp"))(qp);
}
#undef ibv_dereg_mr
int ibv_dereg_mr(struct ibv_mr *mr) {
  if (is("${removed}")) return EIO;
  return is("${busy}") ? EBUSY : ((int (*)(struct ibv_mr *))real("ibv_dereg_mr"))(mr);
}
static int (*query)(struct ibv_context *, uint8_t, struct ibv_port_attr *, size_t);
static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size) {
  return is("${removed}") ? EIO : query(context, port, attr, size);
}
struct ibv_context *ibv_open_device(struct ibv_device *device) {
  struct ibv_context *context = ((struct ibv_context *(*)(struct ibv_device *))real("ibv_open_device"))(device);
  if (context && verbs_get_ctx(context)->query_port != query_port) {
    query = verbs_get_ctx(context)->query_port;
    verbs_get_ctx(context)->query_port = query_port;
  }
  return context;
}
`,
  exports: {
    version: 'IBVERBS_1.1',
    functions: ['ibv_destroy_cq', 'ibv_destroy_qp', 'ibv_dereg_mr', 'ibv_open_device'],
  },
};

it('a removed device is closed with all that went with it, the channel of createCq too', async () => {
  const ctx = openThrough(fakeLibrary(library));
  const pd = ctx.allocPd();
  const cq = ctx.createCq(16);
  pd.allocMr(64, AccessFlags.LOCAL_WRITE);
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4 } });
  const waiting = cq.wait();
  const before = readdirSync('/proc/self/fd').length;
  writeFileSync(removed, '');
  try {
    ctx.close();
  } finally {
    rmSync(removed);
  }
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
  expect([ctx, pd, cq, qp].map(({ closed }) => closed)).toEqual([true, true, true, true]);
  // That of the channel, at least.
  expect(readdirSync('/proc/self/fd').length).toBeLessThan(before);
});

it('a close that fails for a child names the function that destroys the child', () => {
  using ctx = openThrough(fakeLibrary(library));
  const pd = ctx.allocPd();
  const mr = pd.allocMr(64, AccessFlags.LOCAL_WRITE);
  writeFileSync(busy, '');
  try {
    for (const object of [ctx, pd, mr]) {
      expect(() => {
        object.close();
      }).toThrow(expect.objectContaining({ code: 'EBUSY', syscall: 'ibv_dereg_mr' }) as Error);
      expect(object.closed).toBe(false);
    }
    expect(() => {
      pd.close();
    }).toThrow(/^EBUSY: .*, ibv_dereg_mr of what the ProtectionDomain has to close first/);
  } finally {
    rmSync(busy);
  }
});
