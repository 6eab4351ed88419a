// Shared receive queues of type TM through the exported functions.
#include <infiniband/tm_types.h>

#include <cstring>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

struct Target {
  ibv_cq_ex* cq = nullptr;
  ibv_srq* srq = nullptr;
  ibv_srq_init_attr_ex attr{};

  Target(ibv_context* context, ibv_pd* pd) {
    ibv_cq_init_attr_ex init{};
    init.cqe = 16;
    init.wc_flags = std::uint64_t{IBV_WC_STANDARD_FLAGS} | IBV_WC_EX_WITH_TM_INFO;
    cq = ibv_create_cq_ex(context, &init);
    REQUIRE(cq);
    attr.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
    attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
    attr.srq_type = IBV_SRQT_TM;
    attr.pd = pd;
    attr.cq = ibv_cq_ex_to_cq(cq);
    attr.tm_cap = {.max_num_tags = 4, .max_ops = 4};
  }
};

ibv_ops_wr addition(End& end, std::uint64_t tag, ibv_sge* sge) {
  *sge = {reinterpret_cast<std::uintptr_t>(end.memory.data()), 4096, end.mr->lkey};
  ibv_ops_wr wr{};
  wr.wr_id = 5;
  wr.opcode = IBV_WR_TAG_ADD;
  wr.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC;
  wr.tm.add.recv_wr_id = 6;
  wr.tm.add.sg_list = sge;
  wr.tm.add.num_sge = 1;
  wr.tm.add.tag = tag;
  wr.tm.add.mask = UINT64_MAX;
  return wr;
}

}  // namespace

TEST_CASE("the device says what tag matching it has") {
  configure("tm0,link=process");
  const Context context = open_device("tm0");
  ibv_device_attr_ex attr{};
  REQUIRE(ibv_query_device_ex(context.get(), nullptr, &attr) == 0);
  CHECK(attr.tm_caps.flags == IBV_TM_CAP_RC);
  CHECK(attr.tm_caps.max_rndv_hdr_size == 64);
  CHECK(attr.tm_caps.max_num_tags == 1023);
  CHECK(attr.tm_caps.max_ops == 32768);
  CHECK(attr.tm_caps.max_sge == 1);
}

TEST_CASE("a tagged message from end to end") {
  configure("tm0,link=process;tm1,link=process");
  End a("tm0"), b("tm1");
  Target target(b.context.get(), b.pd);
  target.srq = ibv_create_srq_ex(b.context.get(), &target.attr);
  REQUIRE(target.srq);
  REQUIRE(ibv_destroy_qp(b.qp) == 0);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = b.cq;
  init.srq = target.srq;
  init.qp_type = IBV_QPT_RC;
  b.qp = ibv_create_qp(b.pd, &init);
  REQUIRE(b.qp);
  CHECK(ibv_destroy_srq(target.srq) == EBUSY);
  CHECK(ibv_destroy_cq(target.attr.cq) == EBUSY);
  a.connect(b);
  b.connect(a);

  ibv_sge sge{};
  ibv_ops_wr wr = addition(b, 0x1122334455667788, &sge);
  ibv_ops_wr* bad = nullptr;
  REQUIRE(ibv_post_srq_ops(target.srq, &wr, &bad) == 0);
  CHECK(bad == nullptr);
  ibv_poll_cq_attr poll{};
  REQUIRE(ibv_start_poll(target.cq, &poll) == 0);
  CHECK(target.cq->wr_id == 5);
  CHECK(ibv_wc_read_opcode(target.cq) == IBV_WC_TM_ADD);
  ibv_end_poll(target.cq);

  ibv_tmh header{};
  header.opcode = IBV_TMH_EAGER;
  header.app_ctx = htobe32(0xcafe);
  header.tag = htobe64(0x1122334455667788);
  std::memcpy(a.memory.data(), &header, sizeof header);
  std::memcpy(a.memory.data() + sizeof header, "tagged", 7);
  REQUIRE(a.send(0, sizeof header + 7) == 0);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  int error = ENOENT;
  while (error == ENOENT) error = ibv_start_poll(target.cq, &poll);
  REQUIRE(error == 0);
  CHECK(target.cq->wr_id == 6);
  CHECK(target.cq->status == IBV_WC_SUCCESS);
  CHECK(ibv_wc_read_opcode(target.cq) == IBV_WC_TM_RECV);
  CHECK(ibv_wc_read_wc_flags(target.cq) == (IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID));
  CHECK(ibv_wc_read_byte_len(target.cq) == 7);
  ibv_wc_tm_info info{};
  ibv_wc_read_tm_info(target.cq, &info);
  CHECK(info.tag == 0x1122334455667788);
  CHECK(info.priv == 0xcafe);
  ibv_end_poll(target.cq);
  CHECK(std::memcmp(b.memory.data(), "tagged", 7) == 0);

  ibv_qp* second = ibv_create_qp(b.pd, &init);
  REQUIRE(second);
  init.cap.max_send_wr = 1;
  CHECK(ibv_create_qp(b.pd, &init) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(ibv_destroy_qp(second) == 0);
  REQUIRE(ibv_destroy_qp(b.qp) == 0);
  b.qp = nullptr;
  CHECK(ibv_destroy_srq(target.srq) == 0);
  CHECK(ibv_destroy_cq(target.attr.cq) == 0);
}

TEST_CASE("a queue of type TM is created of all its parts") {
  configure("tm0,link=process;tm1,link=process");
  End end("tm0"), other("tm1");
  Target target(end.context.get(), end.pd);
  const auto refused = [&](ibv_srq_init_attr_ex attr) {
    errno = 0;
    CHECK(ibv_create_srq_ex(end.context.get(), &attr) == nullptr);
    return errno;
  };
  for (const unsigned part : {IBV_SRQ_INIT_ATTR_PD, IBV_SRQ_INIT_ATTR_CQ, IBV_SRQ_INIT_ATTR_TM}) {
    ibv_srq_init_attr_ex attr = target.attr;
    attr.comp_mask &= ~part;
    CHECK(refused(attr) == EINVAL);
  }
  ibv_srq_init_attr_ex attr = target.attr;
  attr.tm_cap.max_num_tags = 1024;
  CHECK(refused(attr) == EINVAL);
  attr = target.attr;
  attr.cq = nullptr;
  CHECK(refused(attr) == ENOENT);
  attr.cq = other.cq;
  CHECK(refused(attr) == EINVAL);
  attr = target.attr;
  attr.srq_type = static_cast<ibv_srq_type>(IBV_SRQT_TM + 1);
  CHECK(refused(attr) == EOPNOTSUPP);
  CHECK(ibv_destroy_cq(target.attr.cq) == 0);
}

TEST_CASE("operations on a queue that is destroyed, or has no tagged buffers") {
  configure("tm0,link=process");
  End end("tm0");
  Target target(end.context.get(), end.pd);
  target.srq = ibv_create_srq_ex(end.context.get(), &target.attr);
  REQUIRE(target.srq);
  ibv_sge sge{};
  ibv_ops_wr wr = addition(end, 7, &sge), *bad = nullptr;
  REQUIRE(ibv_post_srq_ops(target.srq, &wr, &bad) == 0);
  REQUIRE(ibv_destroy_srq(target.srq) == 0);
  CHECK(ibv_post_srq_ops(target.srq, &wr, &bad) == EINVAL);
  CHECK(bad == &wr);
  // The completion of the first stays, and its queue is gone.
  ibv_poll_cq_attr poll{};
  REQUIRE(ibv_start_poll(target.cq, &poll) == 0);
  CHECK(target.cq->wr_id == 5);
  ibv_end_poll(target.cq);
  CHECK(ibv_destroy_cq(target.attr.cq) == 0);

  ibv_srq_init_attr basic{.srq_context = nullptr, .attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0}};
  ibv_srq* srq = ibv_create_srq(end.pd, &basic);
  REQUIRE(srq);
  bad = nullptr;
  CHECK(ibv_post_srq_ops(srq, &wr, &bad) == EINVAL);
  CHECK(bad == &wr);
  CHECK(ibv_destroy_srq(srq) == 0);
}
