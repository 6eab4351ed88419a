import { expect, it } from 'vitest';
import { QpType, RxHashFields, RxHashFunction, VerbsError } from '../../src/index.js';
import { fakeLibrary, openThrough } from '../helpers/fake-library.js';

/** As the kernel, it rejects a queue pair that has an indirection table and a receive queue of its own. */
const hashing = {
  source: `#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <infiniband/verbs.h>
static struct ibv_cq *cq;
static struct ibv_qp *(*create)(struct ibv_context *, struct ibv_qp_init_attr_ex *);
static struct ibv_wq *create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr) {
  struct ibv_wq *wq = calloc(1, sizeof *wq);
  wq->context = context;
  cq = attr->cq;
  return wq;
}
static int destroy_wq(struct ibv_wq *wq) { free(wq); return 0; }
static struct ibv_rwq_ind_table *create_table(struct ibv_context *context, struct ibv_rwq_ind_table_init_attr *attr) {
  struct ibv_rwq_ind_table *table = calloc(1, sizeof *table);
  table->context = context;
  return table;
}
static int destroy_table(struct ibv_rwq_ind_table *table) { free(table); return 0; }
static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr) {
  if (!(attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE)) return create(context, attr);
  if (attr->cap.max_recv_wr || attr->cap.max_recv_sge || attr->srq) {
    errno = EINVAL;
    return NULL;
  }
  struct ibv_qp_init_attr_ex plain = {.qp_context = attr->qp_context, .send_cq = cq, .recv_cq = cq,
                                      .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                                      .qp_type = IBV_QPT_UD, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = attr->pd};
  return create(context, &plain);
}
struct ibv_context *ibv_open_device(struct ibv_device *device) {
  struct ibv_context *(*open)(struct ibv_device *) = dlvsym(dlopen(SOFT, RTLD_NOW), "ibv_open_device", "IBVERBS_1.1");
  struct ibv_context *context = open(device);
  struct verbs_context *verbs = context ? verbs_get_ctx(context) : NULL;
  if (!verbs) return context;
  create = verbs->create_qp_ex;
  verbs->create_qp_ex = create_qp_ex;
  verbs->create_wq = create_wq;
  verbs->destroy_wq = destroy_wq;
  verbs->create_rwq_ind_table = create_table;
  verbs->destroy_rwq_ind_table = destroy_table;
  return context;
}
`,
  exports: { version: 'IBVERBS_1.1', functions: ['ibv_open_device'] },
};

it('a queue pair with an indirection table has no receive queue of its own, unless the program asks for one', () => {
  using ctx = openThrough(fakeLibrary(hashing));
  const pd = ctx.allocPd();
  const rwqIndTbl = ctx.createRwqIndTable([pd.createWq({ cq: ctx.createCq(16), maxWr: 4 })]);
  const hashed = {
    qpType: QpType.RAW_PACKET,
    rwqIndTbl,
    rxHashConf: { function: RxHashFunction.TOEPLITZ, key: new Uint8Array(40), fields: RxHashFields.SRC_IPV4 },
  };
  for (const cap of [
    { maxSendWr: 0, maxRecvWr: 0 },
    { maxSendWr: 0, maxRecvWr: 0, maxRecvSge: 0 },
  ]) {
    expect(pd.createQp({ ...hashed, cap }).closed).toBe(false);
  }
  for (const cap of [
    { maxSendWr: 0, maxRecvWr: 0, maxRecvSge: 1 },
    { maxSendWr: 0, maxRecvWr: 1 },
  ]) {
    expect(() => pd.createQp({ ...hashed, cap })).toThrow(VerbsError);
  }
});
