// Memory windows through the exported functions.
#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

struct Opened {
  explicit Opened(End& owner) : end(owner) {
    mr = ibv_reg_mr(end.pd, end.memory.data(), end.memory.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    REQUIRE(mr);
  }
  ~Opened() { ibv_dereg_mr(mr); }

  ibv_mw_bind_info info(std::uint64_t length) const {
    return {mr, reinterpret_cast<std::uintptr_t>(end.memory.data()), length,
            IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
  }

  End& end;
  ibv_mr* mr;
};

ibv_wc_status write(End& from, const End& to, std::uint32_t rkey, std::uint32_t length) {
  ibv_sge sge;
  ibv_send_wr wr = from.request(&sge, IBV_WR_RDMA_WRITE, 0, length), *bad = nullptr;
  wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(to.memory.data());
  wr.wr.rdma.rkey = rkey;
  REQUIRE(ibv_post_send(from.qp, &wr, &bad) == 0);
  return from.poll().status;
}

}  // namespace

TEST_CASE("a type 1 window through ibv_bind_mw") {
  configure("mw0,link=process;mw1,link=process");
  End a("mw0"), b("mw1");
  a.connect(b);
  b.connect(a);
  Opened opened(b);
  ibv_mw* mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_1);
  REQUIRE(mw);
  CHECK(mw->context == b.context.get());
  CHECK(mw->pd == b.pd);
  const std::uint32_t before = mw->rkey;
  ibv_mw_bind bind{.wr_id = 8, .send_flags = IBV_SEND_SIGNALED, .bind_info = opened.info(128)};
  REQUIRE(ibv_bind_mw(b.qp, mw, &bind) == 0);
  CHECK(mw->rkey == ibv_inc_rkey(before));
  const ibv_wc wc = b.poll();
  CHECK(wc.status == IBV_WC_SUCCESS);
  CHECK(wc.opcode == IBV_WC_BIND_MW);
  CHECK(wc.wr_id == 8);
  CHECK(ibv_dereg_mr(opened.mr) == EBUSY);
  std::fill_n(a.memory.begin(), 128, std::uint8_t{0x5a});
  CHECK(write(a, b, mw->rkey, 128) == IBV_WC_SUCCESS);
  CHECK(b.memory[127] == 0x5a);
  CHECK(write(a, b, mw->rkey, 129) == IBV_WC_REM_ACCESS_ERR);
  CHECK(ibv_dealloc_pd(b.pd) == EBUSY);
  CHECK(ibv_dealloc_mw(mw) == 0);
}

TEST_CASE("a type 2 window is bound and invalidated by requests") {
  configure("mw2,link=process;mw3,link=process");
  End a("mw2"), b("mw3");
  a.connect(b);
  b.connect(a);
  Opened opened(b);
  ibv_mw* mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
  REQUIRE(mw);
  ibv_mw_bind bind{.wr_id = 8, .send_flags = IBV_SEND_SIGNALED, .bind_info = opened.info(128)};
  CHECK(ibv_bind_mw(b.qp, mw, &bind) == EINVAL);
  ibv_send_wr wr{}, *bad = nullptr;
  wr.opcode = IBV_WR_BIND_MW;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.bind_mw.mw = mw;
  wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
  wr.bind_mw.bind_info = opened.info(128);
  const std::uint32_t rkey = wr.bind_mw.rkey;
  REQUIRE(ibv_post_send(b.qp, &wr, &bad) == 0);
  CHECK(b.poll().status == IBV_WC_SUCCESS);
  CHECK(write(a, b, rkey, 128) == IBV_WC_SUCCESS);
  wr = {};
  wr.opcode = IBV_WR_LOCAL_INV;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.invalidate_rkey = rkey;
  REQUIRE(ibv_post_send(b.qp, &wr, &bad) == 0);
  CHECK(b.poll().status == IBV_WC_SUCCESS);
  CHECK(write(a, b, rkey, 1) == IBV_WC_REM_ACCESS_ERR);
  CHECK(ibv_dealloc_mw(mw) == 0);
  CHECK(ibv_alloc_mw(b.pd, static_cast<ibv_mw_type>(3)) == nullptr);
  CHECK(errno == EINVAL);
}

TEST_CASE("a context with bound windows can be closed") {
  configure("mw4,link=process;mw5,link=process,max_pd=1");
  End a("mw4");
  const Context stays = open_device("mw5");
  {
    End b("mw5");
    a.connect(b);
    b.connect(a);
    ibv_mw* mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_1);  // older than its region
    REQUIRE(mw);
    ibv_mr* mr = ibv_reg_mr(b.pd, b.memory.data(), 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    REQUIRE(mr);
    ibv_mw_bind bind{.wr_id = 8,
                     .send_flags = IBV_SEND_SIGNALED,
                     .bind_info = {mr, reinterpret_cast<std::uintptr_t>(b.memory.data()), 64, IBV_ACCESS_REMOTE_READ}};
    REQUIRE(ibv_bind_mw(b.qp, mw, &bind) == 0);
    CHECK(b.poll().status == IBV_WC_SUCCESS);
  }
  // The window let the region go, and the region the PD, of which there is one.
  CHECK(ibv_alloc_pd(stays.get()) != nullptr);
}
