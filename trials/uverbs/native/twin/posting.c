#include <string.h>

#include "twin/twin.h"

static struct ibv_sge element(const struct fixture *fixture, uint32_t offset, uint32_t length) {
  return (struct ibv_sge){.addr = (uintptr_t)fixture->memory + offset, .length = length, .lkey = fixture->mr->lkey};
}

static void post(struct fixture *fixture, struct ibv_send_wr *wr) {
  struct ibv_send_wr *bad;
  REQUIRE(ibv_post_send(fixture->qp, wr, &bad) == 0);
  control("queues");
}

static struct ibv_send_wr request(enum ibv_wr_opcode opcode, struct ibv_sge *list, int count, unsigned flags) {
  return (struct ibv_send_wr){.wr_id = 7, .opcode = opcode, .sg_list = list, .num_sge = count, .send_flags = flags};
}

static void receives(struct ibv_context *context) {
  struct fixture fixture = make_fixture(context, IBV_QPT_RC);
  struct ibv_sge list[2] = {element(&fixture, 0, 100), element(&fixture, 4096, 200)};
  struct ibv_recv_wr second = {.wr_id = 2, .sg_list = list + 1, .num_sge = 1};
  struct ibv_recv_wr first = {.wr_id = 1, .sg_list = list, .num_sge = 2, .next = &second};
  struct ibv_recv_wr *bad;
  REQUIRE(ibv_post_recv(fixture.qp, &first, &bad) == 0);
  control("queues");
  drop_fixture(&fixture);
}

static void sends(struct ibv_context *context) {
  struct fixture fixture = make_fixture(context, IBV_QPT_RC);
  struct ibv_sge list[2] = {element(&fixture, 0, 100), element(&fixture, 4096, 200)};
  struct ibv_send_wr wr = request(IBV_WR_SEND, list, 2, IBV_SEND_SIGNALED);
  post(&fixture, &wr);
  wr = request(IBV_WR_SEND_WITH_IMM, list, 1, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
  wr.imm_data = __builtin_bswap32(0x12345678);
  post(&fixture, &wr);
  wr = request(IBV_WR_SEND_WITH_INV, list, 1, IBV_SEND_FENCE);
  wr.invalidate_rkey = 0x4711;
  post(&fixture, &wr);
  for (int i = 0; i < 24; ++i) fixture.memory[i] = (uint8_t)(i + 1);
  struct ibv_sge small = element(&fixture, 0, 24);
  wr = request(IBV_WR_SEND, &small, 1, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
  post(&fixture, &wr);
  drop_fixture(&fixture);
}

static void remote(struct ibv_context *context) {
  struct fixture fixture = make_fixture(context, IBV_QPT_RC);
  struct ibv_sge list[2] = {element(&fixture, 0, 100), element(&fixture, 4096, 200)};
  struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, list, 2, IBV_SEND_SIGNALED);
  wr.wr.rdma.remote_addr = 0x1122334455667788;
  wr.wr.rdma.rkey = 0x99aabbcc;
  post(&fixture, &wr);
  wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  wr.num_sge = 1;
  wr.imm_data = __builtin_bswap32(0x00c0ffee);
  post(&fixture, &wr);
  wr.opcode = IBV_WR_RDMA_READ;
  wr.imm_data = 0;
  post(&fixture, &wr);
  drop_fixture(&fixture);
}

static void atomics(struct ibv_context *context) {
  struct fixture fixture = make_fixture(context, IBV_QPT_RC);
  struct ibv_sge list = element(&fixture, 8, 8);
  struct ibv_send_wr wr = request(IBV_WR_ATOMIC_CMP_AND_SWP, &list, 1, IBV_SEND_SIGNALED);
  wr.wr.atomic.remote_addr = 0x1122334455667788;
  wr.wr.atomic.rkey = 0x99aabbcc;
  wr.wr.atomic.compare_add = 0x0102030405060708;
  wr.wr.atomic.swap = 0xf1f2f3f4f5f6f7f8;
  post(&fixture, &wr);
  wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  wr.wr.atomic.swap = 0;
  post(&fixture, &wr);
  drop_fixture(&fixture);
}

static void binds(struct ibv_context *context) {
  struct fixture fixture = make_fixture(context, IBV_QPT_RC);
  struct ibv_mw *mw = ibv_alloc_mw(fixture.pd, IBV_MW_TYPE_2);
  REQUIRE(mw != NULL);
  struct ibv_send_wr wr = request(IBV_WR_BIND_MW, NULL, 0, IBV_SEND_SIGNALED);
  wr.bind_mw.mw = mw;
  wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
  wr.bind_mw.bind_info = (struct ibv_mw_bind_info){.mr = fixture.mr,
                                                   .addr = (uintptr_t)fixture.memory + 64,
                                                   .length = 512,
                                                   .mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE};
  post(&fixture, &wr);
  struct ibv_send_wr invalidate = request(IBV_WR_LOCAL_INV, NULL, 0, IBV_SEND_SIGNALED);
  invalidate.invalidate_rkey = wr.bind_mw.rkey;
  post(&fixture, &invalidate);
  struct ibv_mw *one = ibv_alloc_mw(fixture.pd, IBV_MW_TYPE_1);
  REQUIRE(one != NULL);
  struct ibv_mw_bind bind = {.wr_id = 9,
                             .send_flags = IBV_SEND_SIGNALED,
                             .bind_info = {.mr = fixture.mr,
                                           .addr = (uintptr_t)fixture.memory,
                                           .length = 4096,
                                           .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
  REQUIRE(ibv_bind_mw(fixture.qp, one, &bind) == 0);
  control("queues");
  REQUIRE(ibv_dealloc_mw(one) == 0);
  REQUIRE(ibv_dealloc_mw(mw) == 0);
  drop_fixture(&fixture);
}

static void datagrams(struct ibv_context *context) {
  struct fixture fixture = make_fixture(context, IBV_QPT_UD);
  struct ibv_ah_attr attr = address_vector();
  struct ibv_ah *ah = ibv_create_ah(fixture.pd, &attr);
  REQUIRE(ah != NULL);
  struct ibv_sge list = element(&fixture, 0, 100);
  struct ibv_send_wr wr = request(IBV_WR_SEND, &list, 1, IBV_SEND_SIGNALED);
  wr.wr.ud.ah = ah;
  wr.wr.ud.remote_qpn = 0x222;
  wr.wr.ud.remote_qkey = 0x11111111;
  post(&fixture, &wr);
  wr.opcode = IBV_WR_SEND_WITH_IMM;
  wr.imm_data = __builtin_bswap32(0x12345678);
  post(&fixture, &wr);
  REQUIRE(ibv_destroy_ah(ah) == 0);
  drop_fixture(&fixture);
}

const struct scenario posting_scenarios[] = {
    {"receives", receives}, {"sends", sends},         {"remote", remote}, {"atomics", atomics},
    {"binds", binds},       {"datagrams", datagrams}, {NULL, NULL},
};
