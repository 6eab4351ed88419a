// Completion counters.
#include <cerrno>
#include <chrono>

#include "abi/objects/later.h"
#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;
namespace later = verbs::soft::abi::later;

namespace {

constexpr std::uint32_t kSend = 1, kRecv = 2, kRead = 4, kRemoteRead = 8, kWrite = 16, kRemoteWrite = 32;

ibv_comp_cntr* create(ibv_context* context, std::uint32_t type = 0, std::uint32_t flags = 0) {
  later::CompCntrInitAttr attr{.comp_mask = 0, .type = type, .flags = flags};
  errno = 0;
  return ibv_create_comp_cntr(context, reinterpret_cast<ibv_comp_cntr_init_attr*>(&attr));
}

int attach(ibv_qp* qp, ibv_comp_cntr* counter, std::uint32_t operations, std::uint32_t comp_mask = 0) {
  later::QpAttachCompCntrAttr attr{.comp_mask = comp_mask, .op_mask = operations};
  return ibv_qp_attach_comp_cntr(qp, counter, reinterpret_cast<ibv_qp_attach_comp_cntr_attr*>(&attr));
}

std::uint64_t value(ibv_comp_cntr* counter) {
  std::uint64_t result = UINT64_MAX;
  CHECK(ibv_read_comp_cntr(counter, &result) == 0);
  return result;
}

std::uint64_t errors(ibv_comp_cntr* counter) {
  std::uint64_t result = UINT64_MAX;
  CHECK(ibv_read_err_comp_cntr(counter, &result) == 0);
  return result;
}

// Reading alone makes progress.
bool reaches(ibv_comp_cntr* counter, std::uint64_t wanted) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (value(counter) != wanted) {
    if (std::chrono::steady_clock::now() > give_up) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("counters count what completes, without signaled requests and without a poll") {
  configure("c0;c1");
  End a("c0"), b("c1");
  ibv_comp_cntr* sent = create(a.context.get());
  ibv_comp_cntr* sent_bytes = create(a.context.get(), 1);
  ibv_comp_cntr* arrived = create(b.context.get());
  ibv_comp_cntr* arrived_bytes = create(b.context.get(), 1);
  REQUIRE(sent);
  REQUIRE(arrived_bytes);
  REQUIRE(attach(a.qp, sent, kSend | kWrite) == 0);
  REQUIRE(attach(a.qp, sent_bytes, kRead) == 0);
  REQUIRE(attach(b.qp, arrived, kRecv | kRemoteWrite) == 0);
  REQUIRE(attach(b.qp, arrived_bytes, kRemoteRead) == 0);
  a.connect(b);
  b.connect(a);

  REQUIRE(b.post_recv(0, 64) == 0);
  REQUIRE(a.send(0, 64) == 0);
  CHECK(reaches(sent, 1));
  CHECK(reaches(arrived, 1));
  ibv_sge sge;
  ibv_send_wr wr = a.request(&sge, IBV_WR_RDMA_WRITE, 0, 5000), *bad = nullptr;
  wr.send_flags = 0;
  wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(b.memory.data());
  wr.wr.rdma.rkey = b.mr->rkey;
  REQUIRE(ibv_post_send(a.qp, &wr, &bad) == 0);
  CHECK(reaches(sent, 2));
  CHECK(reaches(arrived, 2));  // once for a message of several packets
  wr.opcode = IBV_WR_RDMA_READ;
  wr.send_flags = IBV_SEND_SIGNALED;
  REQUIRE(ibv_post_send(a.qp, &wr, &bad) == 0);
  CHECK(reaches(sent_bytes, 5000));
  CHECK(reaches(arrived_bytes, 5000));
  CHECK(errors(sent) == 0);

  // An error, and what it flushes.
  REQUIRE(a.rdma(IBV_WR_RDMA_WRITE, b, 8, 1) == 0);
  REQUIRE(a.send(0, 8) == 0);
  for (int i = 0; i < 1000 && errors(sent) < 2; ++i) usleep(1000);
  CHECK(errors(sent) == 2);
  CHECK(value(sent) == 2);

  CHECK(ibv_destroy_comp_cntr(sent) == EBUSY);
  REQUIRE(ibv_destroy_qp(a.qp) == 0);
  a.qp = nullptr;
  CHECK(ibv_destroy_comp_cntr(sent) == 0);
  CHECK(ibv_destroy_comp_cntr(sent_bytes) == 0);
  CHECK(ibv_destroy_comp_cntr(sent_bytes) == ENOENT);
}

TEST_CASE("one counter sums up several queue pairs, and is set and incremented") {
  configure("c0;c1");
  End a("c0"), b("c1"), c("c0"), d("c1");
  // Contexts of the same device share nothing but it.
  ibv_comp_cntr* counter = create(a.context.get());
  REQUIRE(attach(a.qp, counter, kSend) == 0);
  CHECK(attach(c.qp, counter, kSend) == EINVAL);  // of another context
  a.connect(b);
  b.connect(a);
  CHECK(ibv_set_comp_cntr(counter, UINT64_MAX) == 0);
  CHECK(ibv_inc_comp_cntr(counter, 3) == 0);
  CHECK(value(counter) == 2);  // wraps around
  CHECK(ibv_set_err_comp_cntr(counter, 7) == 0);
  CHECK(ibv_inc_err_comp_cntr(counter, 2) == 0);
  CHECK(errors(counter) == 9);
  REQUIRE(b.post_recv(0, 8) == 0);
  REQUIRE(a.send(0, 8) == 0);
  CHECK(reaches(counter, 3));
}

TEST_CASE("the rules of completion counters") {
  configure("c0");
  End a("c0");
  later::CompCntrCaps caps{};
  REQUIRE(_ibv_query_comp_cntr_caps(a.context.get(), reinterpret_cast<ibv_comp_cntr_caps*>(&caps), sizeof caps) == 0);
  CHECK(caps.max_value == UINT64_MAX);
  CHECK(caps.max_counters == 65536);
  CHECK(caps.supported_qp_attach_ops == 63);
  caps.max_counters = 1;
  REQUIRE(_ibv_query_comp_cntr_caps(a.context.get(), reinterpret_cast<ibv_comp_cntr_caps*>(&caps), 8) == 0);
  CHECK(caps.max_counters == 1);
  CHECK(create(a.context.get(), 2) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(create(a.context.get(), 0, 1) == nullptr);
  ibv_comp_cntr* counter = create(a.context.get());
  REQUIRE(counter);
  CHECK(attach(a.qp, counter, 0) == EINVAL);
  CHECK(attach(a.qp, counter, kSend, 1) == EINVAL);
  CHECK(attach(a.qp, counter, 64) == EOPNOTSUPP);
  CHECK(attach(a.qp, counter, kSend) == 0);
  CHECK(attach(a.qp, counter, kSend | kRecv) == EINVAL);  // SEND is counted already
  a.to_init();
  CHECK(attach(a.qp, counter, kRecv) == 0);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  REQUIRE(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) == 0);
  CHECK(attach(a.qp, counter, kRead) == EINVAL);
}
