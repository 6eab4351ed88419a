// A shared receive queue of type TM between two NICs, and the messages with headers that are sent to it.
#pragma once

#include <doctest/doctest.h>
#include <infiniband/tm_types.h>

#include <algorithm>
#include <optional>

#include "test/nic/virtual_network.h"

namespace verbs::soft::test {

inline constexpr unsigned kWhole = IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID;
inline constexpr std::uint32_t kTagSize = 16;  // struct ibv_tmh
inline constexpr std::uint32_t kRoom = 8192;   // of a buffer

template <typename T>
void store(std::uint8_t* at, T value) {
  wire::store_be(at, value);
}

// Station a sends; station b has the queue of type TM, and a queue pair for each of a's.
struct Matching {
  VirtualNetwork net;
  nic::Cq* cq = nullptr;  // of the queue
  nic::Srq* srq = nullptr;
  std::vector<nic::Qp*> from, to;
  std::vector<std::uint8_t> near = pattern(65536);
  std::vector<std::uint8_t> far = std::vector<std::uint8_t>(65536);
  nic::Mr* local;
  nic::Mr* remote;

  explicit Matching(const Connection& connection = {}, int qps = 1, std::uint32_t max_tags = 16,
                    std::uint32_t max_ops = 16, bool joined = false)
      : net(false, 4096, {}, joined),
        local(net.a.reg(near.data(), near.size())),
        remote(net.b.reg(far.data(), far.size())) {
    REQUIRE(net.b.nic->cqs().create(64, &net.b, &cq, {.tags = true}) == 0);
    ibv_srq_attr attr{.max_wr = 16, .max_sge = 1, .srq_limit = 0};
    const ibv_tm_cap tags{.max_num_tags = max_tags, .max_ops = max_ops};
    REQUIRE(net.b.nic->srqs().create(net.b.pd, &attr, &net.b, &srq, {.cq = cq, .tags = &tags}) == 0);
    for (int i = 0; i < qps; ++i) {
      from.push_back(net.a.create_qp(IBV_QPT_RC));
      to.push_back(create_target());
      net.connect(from.back(), to.back(), connection);
      for (std::uint64_t j = 0; j < 4; ++j) {
        REQUIRE(post_recv(net.a, from.back(), 100 + j, {sge_of(near.data() + 60000, 1024, local)}) == 0);
      }
    }
  }

  nic::Qp* create_target() {
    ibv_qp_init_attr init = {};
    init.qp_type = IBV_QPT_RC;
    nic::Qp* qp = nullptr;
    REQUIRE(net.b.nic->qps().create({.pd = net.b.pd, .send_cq = net.b.cq, .recv_cq = net.b.cq, .srq = srq}, &init,
                                    &net.b, &qp) == 0);
    return qp;
  }

  // A receive request, or the buffer of a tag, has its place by its number.
  ibv_sge place(std::uint64_t number, std::uint32_t length) {
    return sge_of(far.data() + number * kRoom, length, remote);
  }
  const std::uint8_t* bytes(std::uint64_t number) const { return far.data() + number * kRoom; }

  int operate(ibv_ops_wr* wr) {
    ibv_ops_wr* bad = nullptr;
    return net.b.nic->data_path().post_srq_ops(srq, wr, &bad);
  }

  ibv_ops_wr addition(std::uint64_t wr_id, std::uint64_t tag, ibv_sge* sge, int flags = 0, std::uint32_t known = 0,
                      std::uint64_t mask = UINT64_MAX) {
    ibv_ops_wr wr = {};
    wr.wr_id = 1000 + wr_id;
    wr.opcode = IBV_WR_TAG_ADD;
    wr.flags = flags;
    wr.tm.unexpected_cnt = known;
    wr.tm.add.recv_wr_id = wr_id;
    wr.tm.add.sg_list = sge;
    wr.tm.add.num_sge = 1;
    wr.tm.add.tag = tag;
    wr.tm.add.mask = mask;
    return wr;
  }
  std::uint32_t add(std::uint64_t wr_id, std::uint64_t tag, std::uint32_t length = kRoom, std::uint32_t known = 0) {
    ibv_sge sge = place(wr_id, length);
    ibv_ops_wr wr = addition(wr_id, tag, &sge, IBV_OPS_TM_SYNC, known);
    REQUIRE(operate(&wr) == 0);
    return wr.tm.handle;
  }
  int other(ibv_ops_wr_opcode opcode, std::uint32_t value, int flags = IBV_OPS_SIGNALED) {
    ibv_ops_wr wr = {};
    wr.wr_id = 2000;
    wr.opcode = opcode;
    wr.flags = flags;
    (opcode == IBV_WR_TAG_DEL ? wr.tm.handle : wr.tm.unexpected_cnt) = value;
    return operate(&wr);
  }

  void post(std::uint64_t wr_id, std::uint32_t length = kRoom) {
    ibv_sge sge = place(wr_id, length);
    ibv_recv_wr wr = {};
    wr.wr_id = wr_id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    REQUIRE(net.b.nic->data_path().post_srq_recv(srq, &wr, &bad) == 0);
  }

  void write_header(std::uint8_t operation, std::uint64_t tag) {
    near[0] = operation;
    std::fill_n(near.begin() + 1, 3, std::uint8_t{0});
    store<std::uint32_t>(near.data() + 4, 0xabcd0000 + static_cast<std::uint32_t>(tag));
    store<std::uint64_t>(near.data() + 8, tag);
  }
  int send(std::uint32_t length, Send request = {}, std::size_t qp = 0) {
    request.sges = {sge_of(near.data(), length, local)};
    const int error = post_send(net.a, from[qp], std::move(request));
    net.run();
    return error;
  }
  // A message of `length` bytes, with its header.
  void send_eager(std::uint64_t tag, std::uint32_t length, std::size_t qp = 0) {
    write_header(IBV_TMH_EAGER, tag);
    REQUIRE(send(length, {}, qp) == 0);
  }
  // Of the bytes behind the first 4096 of `near`.
  void write_rendezvous(std::uint64_t tag, std::uint32_t length, std::optional<std::uint32_t> rkey = {}) {
    write_header(IBV_TMH_RNDV, tag);
    store<std::uint64_t>(near.data() + 16, reinterpret_cast<std::uintptr_t>(near.data() + 4096));
    store<std::uint32_t>(near.data() + 24, rkey.value_or(local->rkey()));
    store<std::uint32_t>(near.data() + 28, length);
  }

  struct Done {
    ibv_wc wc;
    ibv_wc_tm_info info;
  };
  std::vector<Done> poll() {
    std::vector<Done> all;
    nic::Completion completion{};
    while (cq->poll_one(&completion)) all.push_back({completion.wc, completion.tags.matched});
    return all;
  }
  Done only() {
    const std::vector<Done> all = poll();
    REQUIRE(all.size() == 1);
    return all[0];
  }
  nic::Reason last_reason() {
    nic::Reason reason = nic::Reason::kNone;
    net.b.nic->reasons().for_each([&](const nic::ReasonEvent& event) { reason = event.why.reason; });
    return reason;
  }
};

inline void check(const Matching::Done& done, std::uint64_t wr_id, ibv_wc_opcode opcode, unsigned flags) {
  CHECK(done.wc.status == IBV_WC_SUCCESS);
  CHECK(done.wc.wr_id == wr_id);
  CHECK(done.wc.opcode == opcode);
  CHECK(done.wc.wc_flags == flags);
}

}  // namespace verbs::soft::test
