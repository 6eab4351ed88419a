// The extended post calls: ibv_qp_ex.
#include <sys/mman.h>

#include <thread>

#include "abi/objects/later.h"
#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;
namespace later = verbs::soft::abi::later;

namespace {

constexpr std::uint64_t kSends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;

ibv_qp_init_attr_ex attributes(const End& end, ibv_qp_type type, std::uint64_t operations) {
  ibv_qp_init_attr_ex attr{};
  attr.qp_type = type;
  attr.send_cq = attr.recv_cq = end.cq;
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64};
  attr.pd = end.pd;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attr.send_ops_flags = operations;
  return attr;
}

// An end whose QP has the extended calls.
struct ExtendedEnd : End {
  explicit ExtendedEnd(const char* device, ibv_qp_type type, std::uint64_t operations) : End(device, type) {
    REQUIRE(ibv_destroy_qp(qp) == 0);
    ibv_qp_init_attr_ex attr = attributes(*this, type, operations);
    qp = ibv_create_qp_ex(context.get(), &attr);
    REQUIRE(qp);
    ex = ibv_qp_to_qp_ex(qp);
    REQUIRE(ex);
    ex->wr_flags = IBV_SEND_SIGNALED;
  }
  std::uint64_t address(std::size_t offset) { return reinterpret_cast<std::uintptr_t>(memory.data() + offset); }

  ibv_qp_ex* ex = nullptr;
};

}  // namespace

TEST_CASE("a QP has the extended calls if it was created for them, and each of them is there") {
  configure("x0");
  End end("x0");
  CHECK(ibv_qp_to_qp_ex(end.qp) == nullptr);
  ibv_qp_init_attr_ex attr = attributes(end, IBV_QPT_RC, kSends);
  ibv_qp* qp = ibv_create_qp_ex(end.context.get(), &attr);
  REQUIRE(qp);
  ibv_qp_ex* ex = ibv_qp_to_qp_ex(qp);
  REQUIRE(ex);
  CHECK(&ex->qp_base == qp);
  // All pointers behind wr_flags.
  void* const* call = reinterpret_cast<void* const*>(&ex->wr_atomic_cmp_swp);
  void* const* end_of_calls = reinterpret_cast<void* const*>(ex + 1);
  for (; call != end_of_calls; ++call) CHECK(*call != nullptr);
  CHECK(ibv_destroy_qp(qp) == 0);
}

TEST_CASE("create_qp_ex rejects features that the device lacks") {
  configure("x0");
  End end("x0");
  const auto rejected = [&](ibv_qp_init_attr_ex attr) {
    errno = 0;
    CHECK(ibv_create_qp_ex(end.context.get(), &attr) == nullptr);
    return errno;
  };
  CHECK(rejected(attributes(end, IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_WRITE)) == EOPNOTSUPP);
  CHECK(rejected(attributes(end, IBV_QPT_RC, IBV_QP_EX_WITH_TSO)) == EOPNOTSUPP);
  CHECK(rejected(attributes(end, IBV_QPT_RC, std::uint64_t{1} << 40)) == EOPNOTSUPP);
  ibv_qp_init_attr_ex attr = attributes(end, IBV_QPT_RC, kSends);
  attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
  attr.create_flags = IBV_QP_CREATE_CVLAN_STRIPPING;
  CHECK(rejected(attr) == EOPNOTSUPP);
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
  attr.max_tso_header = 64;
  CHECK(rejected(attr) == EOPNOTSUPP);
  attr.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  CHECK(rejected(attr) == EINVAL);
}

TEST_CASE("RC: a batch with SGEs, inline data, an immediate, a WRITE and a READ") {
  configure("x0;y0");
  ExtendedEnd a("x0", IBV_QPT_RC,
                kSends | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
  End b("y0");
  a.connect(b);
  b.connect(a);
  for (int i = 0; i < 3; ++i) REQUIRE(b.post_recv(1000 * static_cast<std::size_t>(i), 1000) == 0);
  std::memcpy(a.memory.data(), "first second", 12);
  char inlined[] = "inline";
  ibv_sge sges[] = {{a.address(6), 6, a.mr->lkey}, {a.address(0), 5, a.mr->lkey}};
  const ibv_data_buf buffers[] = {{inlined, 2}, {inlined + 2, 0}, {inlined + 2, 4}};

  ibv_wr_start(a.ex);
  a.ex->wr_id = 11;
  ibv_wr_send(a.ex);
  ibv_wr_set_sge_list(a.ex, 2, sges);
  a.ex->wr_id = 12;
  ibv_wr_send_imm(a.ex, htobe32(77));
  ibv_wr_set_inline_data_list(a.ex, 3, buffers);
  std::memset(inlined, 'x', sizeof inlined);  // it was copied
  a.ex->wr_id = 13;
  ibv_wr_rdma_write_imm(a.ex, b.mr->rkey, reinterpret_cast<std::uintptr_t>(b.memory.data() + 5000), htobe32(78));
  ibv_wr_set_inline_data(a.ex, inlined, 3);
  a.ex->wr_id = 14;
  ibv_wr_rdma_read(a.ex, b.mr->rkey, reinterpret_cast<std::uintptr_t>(b.memory.data() + 5000));
  ibv_wr_set_sge(a.ex, a.mr->lkey, a.address(100), 3);
  REQUIRE(ibv_wr_complete(a.ex) == 0);

  for (std::uint64_t id = 11; id <= 14; ++id) {
    const ibv_wc wc = a.poll();
    CHECK(wc.status == IBV_WC_SUCCESS);
    CHECK(wc.wr_id == id);
  }
  CHECK(b.poll().byte_len == 11);
  CHECK(std::string(b.memory.begin(), b.memory.begin() + 11) == "secondfirst");
  const ibv_wc second = b.poll();
  CHECK(second.byte_len == 6);
  CHECK(second.imm_data == htobe32(77));
  CHECK(std::string(b.memory.begin() + 1000, b.memory.begin() + 1006) == "inline");
  CHECK(b.poll().imm_data == htobe32(78));
  CHECK(std::string(a.memory.begin() + 100, a.memory.begin() + 103) == "xxx");
}

TEST_CASE("RC: a flush of a range and of a region, as programs of release 45 and later post it") {
  configure("x0;y0");
  ExtendedEnd a("x0", IBV_QPT_RC, later::kQpExWithFlush | IBV_QP_EX_WITH_RDMA_WRITE);
  End b("y0");
  a.connect(b);
  b.connect(a);
  constexpr int kGlobal = 1 << 8;  // IBV_ACCESS_FLUSH_GLOBAL
  ibv_mr* mr = ibv_reg_mr(b.pd, b.memory.data(), 8192, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | kGlobal);
  REQUIRE(mr);
  ibv_qp_attr attr{};
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | kGlobal;
  REQUIRE(ibv_modify_qp(b.qp, &attr, IBV_QP_ACCESS_FLAGS) == 0);
  const auto address = reinterpret_cast<std::uintptr_t>(b.memory.data());
  auto* ex = reinterpret_cast<later::QpEx*>(a.ex);
  const auto flush = [&](std::size_t length, std::uint8_t type, std::uint8_t level) {
    ibv_wr_start(a.ex);
    ibv_wr_rdma_write(a.ex, mr->rkey, address);
    ibv_wr_set_sge(a.ex, a.mr->lkey, a.address(0), 8);
    ex->wr_flush(a.ex, mr->rkey, address, length, type, level);
    return ibv_wr_complete(a.ex);
  };
  for (const std::uint8_t level : {0, 1}) {
    REQUIRE(flush(8, 1, level) == 0);
    CHECK(a.poll().opcode == IBV_WC_RDMA_WRITE);
    const ibv_wc wc = a.poll();
    CHECK(wc.status == IBV_WC_SUCCESS);
    CHECK(wc.opcode == 8);  // IBV_WC_FLUSH
  }
  CHECK(flush(std::size_t{1} << 32, 1, 0) == EINVAL);
  // The range ends behind the region.
  REQUIRE(flush(8193, 1, 0) == 0);
  a.poll();
  CHECK(a.poll().status == IBV_WC_REM_ACCESS_ERR);
  ibv_wr_start(a.ex);
  ex->wr_unknown[0](a.ex);  // an operation of a later release
  CHECK(ibv_wr_complete(a.ex) == EOPNOTSUPP);
}

TEST_CASE("RC: atomics and an atomic write, which is inline data on a QP that asked for none") {
  configure("x0;y0");
  End b("y0");
  ExtendedEnd a("x0", IBV_QPT_RC,
                IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_ATOMIC_WRITE);
  a.connect(b);
  b.connect(a);
  ibv_mr* mr = ibv_reg_mr(b.pd, b.memory.data(), 64,
                          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
  REQUIRE(mr);
  ibv_qp_attr attr{};
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  REQUIRE(ibv_modify_qp(b.qp, &attr, IBV_QP_ACCESS_FLAGS) == 0);
  auto* target = reinterpret_cast<std::uint64_t*>((reinterpret_cast<std::uintptr_t>(b.memory.data()) + 7) & ~7ul);
  auto* original = reinterpret_cast<std::uint64_t*>((reinterpret_cast<std::uintptr_t>(a.memory.data()) + 7) & ~7ul);
  const auto address = reinterpret_cast<std::uintptr_t>(target);
  const std::uint64_t value = 40;
  ibv_wr_start(a.ex);
  ibv_wr_atomic_write(a.ex, mr->rkey, address, &value);
  ibv_wr_atomic_fetch_add(a.ex, mr->rkey, address, 2);
  ibv_wr_set_sge(a.ex, a.mr->lkey, reinterpret_cast<std::uintptr_t>(original), 8);
  ibv_wr_atomic_cmp_swp(a.ex, mr->rkey, address, 42, 7);
  ibv_wr_set_sge(a.ex, a.mr->lkey, reinterpret_cast<std::uintptr_t>(original + 1), 8);
  REQUIRE(ibv_wr_complete(a.ex) == 0);
  for (const ibv_wc_opcode opcode : {IBV_WC_ATOMIC_WRITE, IBV_WC_FETCH_ADD, IBV_WC_COMP_SWAP}) {
    const ibv_wc wc = a.poll();
    CHECK(wc.status == IBV_WC_SUCCESS);
    CHECK(wc.opcode == opcode);
  }
  CHECK(original[0] == 40);
  CHECK(original[1] == 42);
  CHECK(*target == 7);
  ibv_dereg_mr(mr);
}

TEST_CASE("UD: the address is set on each request") {
  configure("x0;y0");
  ExtendedEnd a("x0", IBV_QPT_UD, kSends);
  End b("y0", IBV_QPT_UD);
  a.to_init();
  b.to_init();
  for (End* end : {static_cast<End*>(&a), &b}) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTR;
    REQUIRE(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE) == 0);
    attr.qp_state = IBV_QPS_RTS;
    REQUIRE(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
  }
  REQUIRE(b.post_recv(0, 1000) == 0);
  ibv_ah_attr address = End::address_of(b);
  ibv_ah* ah = ibv_create_ah(a.pd, &address);
  REQUIRE(ah);
  char text[] = "datagram";
  ibv_wr_start(a.ex);
  ibv_wr_send_imm(a.ex, 5);
  ibv_wr_set_ud_addr(a.ex, ah, b.qp->qp_num, 0x1234);
  ibv_wr_set_inline_data(a.ex, text, 8);
  REQUIRE(ibv_wr_complete(a.ex) == 0);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  const ibv_wc wc = b.poll();
  CHECK(wc.byte_len == 48);
  CHECK(wc.imm_data == 5);
  CHECK(std::string(b.memory.begin() + 40, b.memory.begin() + 48) == "datagram");

  ibv_wr_start(a.ex);
  ibv_wr_send(a.ex);
  CHECK(ibv_wr_complete(a.ex) == EINVAL);  // no address
  ibv_wr_start(a.ex);
  ibv_wr_send(a.ex);
  ibv_wr_set_xrc_srqn(a.ex, 1);
  CHECK(ibv_wr_complete(a.ex) == EINVAL);
  ibv_destroy_ah(ah);
}

TEST_CASE("a batch with an error posts nothing, and the next one is not concerned") {
  configure("x0;y0");
  ExtendedEnd a("x0", IBV_QPT_RC, kSends);
  End b("y0");
  a.connect(b);
  b.connect(a);
  REQUIRE(b.post_recv(0, 1000) == 0);
  char text[128] = {};
  const auto batch = [&](auto build) {
    ibv_wr_start(a.ex);
    ibv_wr_send(a.ex);
    ibv_wr_set_inline_data(a.ex, text, 1);
    build();
    return ibv_wr_complete(a.ex);
  };
  CHECK(batch([&] { ibv_wr_rdma_write(a.ex, 1, 2); }) == EOPNOTSUPP);
  CHECK(batch([&] { ibv_wr_send_tso(a.ex, text, 1, 1); }) == EOPNOTSUPP);
  CHECK(batch([&] { ibv_wr_set_inline_data(a.ex, text, 65); }) == EINVAL);
  ibv_sge sges[3] = {};
  CHECK(batch([&] { ibv_wr_set_sge_list(a.ex, 3, sges); }) == EINVAL);
  CHECK(batch([&] { ibv_wr_set_ud_addr(a.ex, nullptr, 1, 1); }) == EINVAL);
  CHECK(batch([&] { ibv_wr_start(a.ex); }) == EINVAL);
  CHECK(batch([&] {
          for (int i = 0; i < 4; ++i) ibv_wr_send(a.ex);
        }) == ENOMEM);
  void* hole = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(hole != MAP_FAILED);
  CHECK(batch([&] { ibv_wr_set_inline_data(a.ex, hole, 8); }) == EFAULT);
  munmap(hole, 4096);

  ibv_wr_start(a.ex);
  ibv_wr_set_sge(a.ex, 1, 2, 3);  // of no request
  CHECK(ibv_wr_complete(a.ex) == EINVAL);
  CHECK(ibv_wr_complete(a.ex) == EINVAL);  // of no batch
  ibv_wr_abort(a.ex);
  ibv_wr_send(a.ex);
  ibv_wr_start(a.ex);
  ibv_wr_send(a.ex);
  ibv_wr_abort(a.ex);
  ibv_wr_start(a.ex);
  CHECK(ibv_wr_complete(a.ex) == 0);  // an empty one

  ibv_wc none;
  CHECK(ibv_poll_cq(a.cq, 1, &none) == 0);
  CHECK(batch([] {}) == 0);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  CHECK(b.poll().byte_len == 1);
}

TEST_CASE("a request that the NIC rejects fails its whole batch") {
  configure("x0;y0");
  ExtendedEnd a("x0", IBV_QPT_RC, kSends);
  End b("y0");
  char text[1] = {};
  const auto post = [&](int count) {
    ibv_wr_start(a.ex);
    for (int i = 0; i < count; ++i) {
      ibv_wr_send(a.ex);
      ibv_wr_set_inline_data(a.ex, text, 1);
    }
    return ibv_wr_complete(a.ex);
  };
  CHECK(post(1) == EINVAL);  // RESET
  a.connect(b, 0);           // its peer is not ready: posted requests stay in the queue
  CHECK(post(2) == 0);
  CHECK(post(3) == ENOMEM);
  CHECK(post(2) == 0);
  CHECK(post(1) == ENOMEM);
}

TEST_CASE("one thread at a time uses the batch of a QP") {
  configure("x0;y0");
  ExtendedEnd a("x0", IBV_QPT_RC, kSends);
  End b("y0");
  a.connect(b);
  b.connect(a);
  const auto work = [&] {
    for (int i = 0; i < 50; ++i) {
      ibv_wr_start(a.ex);
      ibv_wr_abort(a.ex);
    }
  };
  std::thread other(work);
  work();
  other.join();
  ibv_wr_start(a.ex);
  std::thread stranger([&] { CHECK(ibv_wr_complete(a.ex) == EINVAL); });
  stranger.join();
  CHECK(ibv_wr_complete(a.ex) == 0);
}
