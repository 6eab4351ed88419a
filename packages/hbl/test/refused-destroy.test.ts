// A libhbl whose destroy functions are refused while a queue pair of the port is left.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { QpState } from '@verbs/core';
import {
  createCq,
  createEncap,
  createUsrFifo,
  EncapType,
  modifyQp,
  QpCaps,
  queryCq,
  readCq,
  softModel,
} from '../src/index.js';
import { libraries } from '../src/libraries.js';
import { codeOf, type End, end, ready, toInit, toRtr, toRts } from './helpers/devices.js';

const folder = mkdtempSync(join(tmpdir(), 'verbs-refusing-'));
const include = join(import.meta.dirname, '../native/include');

const SOURCE = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <hbldv.h>
#include <sys/mman.h>
static struct ibv_context *opened;
static void *model(const char *name) { return dlvsym(dlopen(MODEL, RTLD_NOW), name, HBLDV_VERSION); }
struct ibv_context *hbldv_open_device(struct ibv_device *device, struct hbldv_ucontext_attr *attr) {
  struct ibv_context *(*call)(struct ibv_device *, struct hbldv_ucontext_attr *) = model("hbldv_open_device");
  return opened = call(device, attr);
}
static int in_use(void) {
  int (*query)(struct ibv_context *, uint32_t, struct hbldv_query_port_attr *) = model("hbldv_query_port");
  struct hbldv_query_port_attr attr;
  return query(opened, 1, &attr) == 0 && attr.num_allocated_qps > 1;
}
int hbldv_destroy_encap(struct hbldv_encap *encap) {
  int (*call)(struct hbldv_encap *) = model("hbldv_destroy_encap");
  return in_use() ? EBUSY : call(encap);
}
int hbldv_destroy_usr_fifo(struct hbldv_usr_fifo *fifo) {
  int (*call)(struct hbldv_usr_fifo *) = model("hbldv_destroy_usr_fifo");
  return in_use() ? EBUSY : call(fifo);
}
/* After a refused destruction libhbl keeps the addresses of what it has unmapped: here, of each queue of 16 entries. */
int hbldv_query_cq(struct ibv_cq *cq, struct hbldv_query_cq_attr *attr) {
  int (*call)(struct ibv_cq *, struct hbldv_query_cq_attr *) = model("hbldv_query_cq");
  int error = call(cq, attr);
  if (error != 0 || cq->cqe != 16) return error;
  attr->mem_cpu_addr = mmap(NULL, attr->cq_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(attr->mem_cpu_addr, attr->cq_size);
  return 0;
}
`;

beforeAll(() => {
  const [code, map, library] = ['fake.c', 'fake.map', 'libhbl.so.1'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(code, SOURCE);
  writeFileSync(
    map,
    'HBL_1.0 { global: hbldv_open_device; hbldv_destroy_encap; hbldv_destroy_usr_fifo; hbldv_query_cq; local: *; };\n',
  );
  execFileSync('gcc', [
    ...['-shared', '-fPIC', '-o', library, code, `-I${include}`, `-DMODEL="${softModel.library}"`],
    ...[`-Wl,--version-script=${map}`, '-Wl,--no-as-needed', `-Wl,-rpath,${dirname(softModel.library)}`],
    softModel.library,
  ]);
  (libraries.about as { model: string }).model = library;
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A gaudi2 port has one encapsulation: another one can be made only after the first was destroyed. */
const encapOn = (ctx: End['ctx']) =>
  createEncap(ctx, {
    portNum: 1,
    encapType: EncapType.ENC_OVER_UDP,
    udpDstPort: 4789,
    header: new Uint8Array(32),
  });

const closing = (object: { close(): void }) =>
  codeOf(() => {
    object.close();
  });

it('a queue pair is destroyed before the encapsulation that it uses', () => {
  const a = end(ready());
  const encaps = Array.from({ length: 8 }, () => encapOn(a.ctx));
  const [encap] = encaps;
  if (encap === undefined) throw new Error('no encapsulation');
  const uses = { caps: QpCaps.ENCAP, encapNum: encap.encapNum };
  modifyQp(a.qp, toInit());
  modifyQp(a.qp, toRtr(a), uses);
  modifyQp(a.qp, toRts(), uses);
  expect(closing(encap)).toBeUndefined(); // later, with the queue pair
  expect(codeOf(() => encapOn(a.ctx))).toBe('EBUSY');
  expect(closing(a.qp)).toBeUndefined();
  expect(encapOn(a.ctx).encapNum).toBe(encap.encapNum);
});

it.each([
  ['encapsulation', encapOn],
  ['user FIFO', (ctx: End['ctx']) => createUsrFifo(ctx, { portNum: 1 })],
] as const)('a refused destruction of an %s is an error, and close() can be tried again', (_, create) => {
  const a = end(ready());
  modifyQp(a.qp, toInit());
  const object = create(a.ctx);
  expect(closing(object)).toBe('EBUSY');
  expect(object.closed).toBe(false);
  // The library has freed its object all the same: nothing of it is used again.
  if ('push' in object) expect(() => object.push(0n)).toThrow(/EBADF/);
  expect(closing(object)).toBeUndefined();
  expect(object.closed).toBe(true);
  expect(closing(a.ctx)).toBeUndefined();
});

it('a refused destruction stops the close of the device, which can be tried again', () => {
  const a = end(ready());
  modifyQp(a.qp, toInit());
  createUsrFifo(a.ctx, { portNum: 1 });
  expect(closing(a.ctx)).toBe('EBUSY');
  expect(closing(a.ctx)).toBeUndefined();
});

it('an encapsulation of a queue pair that was reset goes with its own close', () => {
  const a = end(ready());
  const encap = encapOn(a.ctx);
  modifyQp(a.qp, toInit());
  modifyQp(a.qp, toRtr(a), { caps: QpCaps.ENCAP, encapNum: encap.encapNum });
  a.qp.modify({ qpState: QpState.RESET });
  a.qp.close();
  expect(closing(encap)).toBeUndefined();
});

it('the buffer of a completion queue that the library has unmapped is not read', () => {
  const ctx = ready();
  const [whole, unmapped] = [32, 16].map((cqe) => createCq(ctx, cqe, { portNum: 1 }));
  if (whole === undefined || unmapped === undefined) throw new Error('no queues');
  expect(queryCq(whole).mapped).toBe(true);
  expect(readCq(whole).entries).toEqual([]);
  expect(queryCq(unmapped).mapped).toBe(false);
  expect(codeOf(() => readCq(unmapped))).toBe('EOPNOTSUPP');
});
