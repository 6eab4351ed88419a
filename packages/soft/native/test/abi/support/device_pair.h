// What the tests of the exported functions share: contexts, objects that close themselves, connected queue pairs.
#pragma once

#include <doctest/doctest.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "include/verbs_soft.h"

// Exported by libibverbs, declared only in its driver header.
extern "C" int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, size_t size);

namespace verbs::soft::test {

struct ContextCloser {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};
using Context = std::unique_ptr<ibv_context, ContextCloser>;

// Opens a device of the present configuration.
inline Context open_device(const std::string& name) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  REQUIRE_MESSAGE(list != nullptr, std::string(verbs_soft_last_error()));
  ibv_context* context = nullptr;
  for (int i = 0; i < count; ++i) {
    if (name == ibv_get_device_name(list[i])) context = ibv_open_device(list[i]);
  }
  ibv_free_device_list(list);
  REQUIRE_MESSAGE(context != nullptr, std::string(verbs_soft_last_error()));
  return Context(context);
}

// A context with one object of each type. Closing the context destroys the remaining objects.
struct End {
  explicit End(const std::string& device, ibv_qp_type type = IBV_QPT_RC, bool events = false)
      : context(open_device(device)), memory(1 << 20) {
    pd = ibv_alloc_pd(context.get());
    REQUIRE(pd);
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    mr = ibv_reg_mr(pd, memory.data(), memory.size(), access);
    REQUIRE(mr);
    if (events) channel = ibv_create_comp_channel(context.get());
    cq = ibv_create_cq(context.get(), 64, this, channel, 0);
    REQUIRE(cq);
    ibv_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq;
    attr.qp_type = type;
    attr.cap = {.max_send_wr = 256, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 0};
    qp = ibv_create_qp(pd, &attr);
    REQUIRE(qp);
    REQUIRE(ibv_query_gid(context.get(), 1, 0, &gid) == 0);
  }
  ~End() {
    if (qp) ibv_destroy_qp(qp);
    if (cq) ibv_destroy_cq(cq);
    if (channel) ibv_destroy_comp_channel(channel);
  }

  void to_init() {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qkey = 0x1234;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
    REQUIRE(ibv_modify_qp(qp, &attr, mask | (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)) == 0);
  }

  void connect(const End& peer, std::uint8_t timeout = 14) {
    to_init();
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = peer.qp->qp_num;
    attr.max_dest_rd_atomic = 4;
    attr.min_rnr_timer = 12;
    attr.ah_attr = address_of(peer);
    attr.ah_attr.grh.sgid_index = sgid_index;
    REQUIRE(ibv_modify_qp(qp, &attr,
                          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                              IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = timeout;
    attr.retry_cnt = 7;
    attr.rnr_retry = 7;
    attr.max_rd_atomic = 4;
    REQUIRE(ibv_modify_qp(qp, &attr,
                          IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                              IBV_QP_MAX_QP_RD_ATOMIC) == 0);
  }

  static ibv_ah_attr address_of(const End& peer) {
    ibv_ah_attr attr{};
    attr.is_global = 1;
    attr.port_num = 1;
    attr.grh.dgid = peer.gid;
    attr.grh.hop_limit = 64;
    return attr;
  }

  // How an address handle fails for TEST-NET-3, to which no route leads from a loopback address; 0 if it does not.
  int route_to_nowhere() const {
    ibv_ah_attr attr = address_of(*this);
    const std::uint8_t nowhere[4] = {203, 0, 113, 9};
    std::memcpy(attr.grh.dgid.raw + 12, nowhere, sizeof nowhere);
    ibv_ah* ah = ibv_create_ah(pd, &attr);
    return ah == nullptr ? errno : ibv_destroy_ah(ah);
  }

  int post_recv(std::size_t offset, std::uint32_t length, std::uint64_t wr_id = 1) {
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory.data() + offset), length, mr->lkey};
    ibv_recv_wr wr{};
    wr.wr_id = wr_id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    return ibv_post_recv(qp, &wr, &bad);
  }

  ibv_send_wr request(ibv_sge* sge, ibv_wr_opcode opcode, std::size_t offset, std::uint32_t length) {
    *sge = {reinterpret_cast<std::uintptr_t>(memory.data() + offset), length, mr->lkey};
    ibv_send_wr wr{};
    wr.wr_id = 2;
    wr.sg_list = sge;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    return wr;
  }

  int send(std::size_t offset, std::uint32_t length) {
    ibv_sge sge;
    ibv_send_wr wr = request(&sge, IBV_WR_SEND, offset, length), *bad = nullptr;
    return ibv_post_send(qp, &wr, &bad);
  }

  // `wrong_bits`: of the remote key.
  int rdma(ibv_wr_opcode opcode, const End& peer, std::uint32_t length, std::uint32_t wrong_bits = 0) {
    ibv_sge sge;
    ibv_send_wr wr = request(&sge, opcode, 0, length), *bad = nullptr;
    wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(peer.memory.data());
    wr.wr.rdma.rkey = peer.mr->rkey ^ wrong_bits;
    return ibv_post_send(qp, &wr, &bad);
  }

  // Polls until there is a completion; fails after a time that only a hang can take.
  ibv_wc poll() {
    ibv_wc wc{};
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    int found = 0;
    while ((found = ibv_poll_cq(cq, 1, &wc)) == 0) {
      if (std::chrono::steady_clock::now() > give_up) break;
    }
    REQUIRE(found == 1);
    return wc;
  }

  Context context;
  std::vector<std::uint8_t> memory;
  ibv_gid gid{};
  std::uint8_t sgid_index = 0;
  ibv_pd* pd = nullptr;
  ibv_mr* mr = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qp = nullptr;
};

// A loopback address of this process alone: other tests run beside this one, and a device without an address claims
// the first free one of 127.0.0.0/24.
inline std::string local_address(int last) {
  const int pid = getpid();
  return "127." + std::to_string(128 + ((pid >> 8) & 127)) + "." + std::to_string(pid & 255) + "." +
         std::to_string(last);
}

inline void configure(const char* text) {
  REQUIRE_MESSAGE(verbs_soft_configure(text) == 0, std::string(verbs_soft_last_error()));
}
inline void configure(const std::string& text) { configure(text.c_str()); }

// The device's counter of that name.
inline std::uint64_t counter(const char* device, const std::string& name) {
  struct Search {
    std::string name;
    std::uint64_t value = 0;
    bool found = false;
  } search{name};
  const auto look = [](void* data, const char* key, std::uint64_t value) {
    auto* wanted = static_cast<Search*>(data);
    if (wanted->name != key) return;
    wanted->value = value;
    wanted->found = true;
  };
  REQUIRE(verbs_soft_stats(device, look, &search) == 0);
  REQUIRE(search.found);
  return search.value;
}

}  // namespace verbs::soft::test
