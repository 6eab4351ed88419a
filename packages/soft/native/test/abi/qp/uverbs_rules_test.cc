// What uverbs and the providers check before a device sees a call: a table read from their sources, each row a call
// that breaks one rule. Beside it stands the table of state transitions (test/nic/verbs/transitions_test.cc).
//
// The sources: the kernel's drivers/infiniband/core/uverbs_cmd.c ("uverbs"), core/verbs.c ("core"), sw/rxe ("rxe");
// rdma-core's libibverbs ("libibverbs") and providers/mlx5 ("libmlx5").
#include <fcntl.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

// Attributes of a move to RTR that is right.
constexpr int kToRtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kToInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kToRts =
    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

ibv_qp_attr rtr(const End& end) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = end.qp->qp_num;
  attr.max_dest_rd_atomic = 4;
  attr.min_rnr_timer = 12;
  attr.ah_attr = End::address_of(end);
  return attr;
}

ibv_qp_attr init() {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  return attr;
}

ibv_qp_attr rts() {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.retry_cnt = attr.rnr_retry = 7;
  attr.max_rd_atomic = 4;
  return attr;
}

int error_of(const void* object) { return object != nullptr ? 0 : errno; }

int create_qp(End& end, const std::function<void(ibv_qp_init_attr&)>& change) {
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = end.cq;
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  change(attr);
  errno = 0;
  ibv_qp* qp = ibv_create_qp(end.pd, &attr);
  const int error = error_of(qp);
  if (qp != nullptr) ibv_destroy_qp(qp);
  return error;
}

// A change of one attribute in a move that is right without it.
int move(End& end, int mask, ibv_qp_attr attr) { return ibv_modify_qp(end.qp, &attr, mask); }

int from_init(End& end, const std::function<void(ibv_qp_attr&)>& change, int more = 0) {
  end.to_init();
  ibv_qp_attr attr = rtr(end);
  change(attr);
  return move(end, kToRtr | more, attr);
}

int from_rtr(End& end, const std::function<void(ibv_qp_attr&)>& change, int more = 0) {
  end.to_init();
  REQUIRE(move(end, kToRtr, rtr(end)) == 0);
  ibv_qp_attr attr = rts();
  change(attr);
  return move(end, kToRts | more, attr);
}

struct Rule {
  const char* rule;
  const char* source;
  int error;
  std::function<int(End&)> broken;
};

const std::vector<Rule>& modify_rules() {
  static const std::vector<Rule> rules = {
      {"a state beyond ERR", "uverbs: modify_qp", EINVAL,
       [](End& end) {
         ibv_qp_attr attr = init();
         attr.qp_state = static_cast<ibv_qp_state>(IBV_QPS_ERR + 1);
         return move(end, kToInit, attr);
       }},
      {"a current state that is not the queue pair's", "core: ib_modify_qp_is_ok with the provider's state", EINVAL,
       [](End& end) {
         return from_rtr(end, [](ibv_qp_attr& attr) { attr.cur_qp_state = IBV_QPS_RTS; }, IBV_QP_CUR_STATE);
       }},
      {"a port of 0", "uverbs: modify_qp, rdma_is_port_valid", EINVAL,
       [](End& end) {
         ibv_qp_attr attr = init();
         attr.port_num = 0;
         return move(end, kToInit, attr);
       }},
      {"a port that the device lacks", "uverbs: modify_qp, rdma_is_port_valid", EINVAL,
       [](End& end) {
         ibv_qp_attr attr = init();
         attr.port_num = 2;
         return move(end, kToInit, attr);
       }},
      {"a P_Key index beyond the table", "rxe: rxe_qp_chk_attr; the port's table has one", EINVAL,
       [](End& end) {
         ibv_qp_attr attr = init();
         attr.pkey_index = 1;
         return move(end, kToInit, attr);
       }},
      {"an address vector of no port", "uverbs: modify_qp, dest.port_num", EINVAL,
       [](End& end) { return from_init(end, [](ibv_qp_attr& attr) { attr.ah_attr.port_num = 0; }); }},
      {"an address vector of another port than INIT's", "uverbs: modify_qp, INIT to RTR", EINVAL,
       [](End& end) { return from_init(end, [](ibv_qp_attr& attr) { attr.ah_attr.port_num = 2; }); }},
      {"an address vector without a GRH", "core: RoCE needs one", EINVAL,
       [](End& end) { return from_init(end, [](ibv_qp_attr& attr) { attr.ah_attr.is_global = 0; }); }},
      {"a source GID index beyond the table", "core: rdma_fill_sgid_attr", EINVAL,
       [](End& end) { return from_init(end, [](ibv_qp_attr& attr) { attr.ah_attr.grh.sgid_index = 99; }); }},
      {"a path MTU of none", "rxe: rxe_qp_chk_attr", EINVAL,
       [](End& end) { return from_init(end, [](ibv_qp_attr& attr) { attr.path_mtu = static_cast<ibv_mtu>(0); }); }},
      {"a path MTU larger than the port's", "rxe: rxe_qp_chk_attr", EINVAL,
       [](End& end) { return from_init(end, [](ibv_qp_attr& attr) { attr.path_mtu = static_cast<ibv_mtu>(6); }); }},
      {"more incoming READs than the device has", "rxe: rxe_qp_chk_attr, max_qp_rd_atom", EINVAL,
       [](End& end) { return from_init(end, [](ibv_qp_attr& attr) { attr.max_dest_rd_atomic = 255; }); }},
      {"an RNR timer beyond its code", "rxe: rxe_qp_chk_attr", EINVAL,
       [](End& end) { return from_init(end, [](ibv_qp_attr& attr) { attr.min_rnr_timer = 32; }); }},
      {"an alternate path", "core: RoCE has no path migration", EINVAL,
       [](End& end) { return from_init(end, [](ibv_qp_attr& attr) { attr.alt_port_num = 1; }, IBV_QP_ALT_PATH); }},
      {"more outgoing READs than the device has", "rxe: rxe_qp_chk_attr, max_qp_init_rd_atom", EINVAL,
       [](End& end) { return from_rtr(end, [](ibv_qp_attr& attr) { attr.max_rd_atomic = 255; }); }},
      {"an ACK timeout beyond its code", "rxe: rxe_qp_chk_attr", EINVAL,
       [](End& end) { return from_rtr(end, [](ibv_qp_attr& attr) { attr.timeout = 32; }); }},
      {"more retries than three bits", "IBTA 11.2.4.2: three bits", EINVAL,
       [](End& end) { return from_rtr(end, [](ibv_qp_attr& attr) { attr.retry_cnt = 8; }); }},
      {"a rate limit of a connected queue pair", "core: ib_modify_qp_is_ok has it for raw packets", EINVAL,
       [](End& end) { return from_rtr(end, [](ibv_qp_attr&) {}, IBV_QP_RATE_LIMIT); }},
      {"a path migration that the device lacks", "core: RoCE has no path migration", EINVAL,
       [](End& end) {
         return from_rtr(end, [](ibv_qp_attr& attr) { attr.path_mig_state = IBV_MIG_REARM; }, IBV_QP_PATH_MIG_STATE);
       }},
  };
  return rules;
}

const std::vector<Rule>& object_rules() {
  static const std::vector<Rule> rules = {
      {"more requests than the device has", "rxe: rxe_qp_chk_cap", EINVAL,
       [](End& end) { return create_qp(end, [](ibv_qp_init_attr& attr) { attr.cap.max_send_wr = 1u << 30; }); }},
      {"more SGEs than the device has", "rxe: rxe_qp_chk_cap", EINVAL,
       [](End& end) { return create_qp(end, [](ibv_qp_init_attr& attr) { attr.cap.max_recv_sge = 1000; }); }},
      {"more inline data than the device has", "rxe: rxe_qp_chk_cap", EINVAL,
       [](End& end) { return create_qp(end, [](ibv_qp_init_attr& attr) { attr.cap.max_inline_data = 1u << 20; }); }},
      {"a type that the device lacks", "rxe: rxe_qp_chk_init", EOPNOTSUPP,
       [](End& end) { return create_qp(end, [](ibv_qp_init_attr& attr) { attr.qp_type = IBV_QPT_DRIVER; }); }},
      {"a completion queue without entries", "rxe: rxe_cq_chk_attr", EINVAL,
       [](End& end) { return error_of(ibv_create_cq(end.context.get(), 0, nullptr, nullptr, 0)); }},
      {"a completion queue larger than the device has", "rxe: rxe_cq_chk_attr", EINVAL,
       [](End& end) { return error_of(ibv_create_cq(end.context.get(), 1 << 30, nullptr, nullptr, 0)); }},
      {"a completion vector that the device lacks", "uverbs: create_cq", EINVAL,
       [](End& end) {
         return error_of(ibv_create_cq(end.context.get(), 4, nullptr, nullptr, end.context->num_comp_vectors));
       }},
      {"a shared queue larger than the device has", "rxe: rxe_srq_chk_init", EINVAL,
       [](End& end) {
         ibv_srq_init_attr attr{};
         attr.attr = {.max_wr = 1u << 30, .max_sge = 1, .srq_limit = 0};
         return error_of(ibv_create_srq(end.pd, &attr));
       }},
      {"a limit beyond the shared queue", "rxe: rxe_srq_chk_attr", EINVAL,
       [](End& end) {
         ibv_srq_init_attr attr{};
         attr.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
         ibv_srq* srq = ibv_create_srq(end.pd, &attr);
         REQUIRE(srq);
         ibv_srq_attr limit{.max_wr = 0, .max_sge = 0, .srq_limit = 10'000};
         const int error = ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT);
         REQUIRE(ibv_destroy_srq(srq) == 0);
         return error;
       }},
      {"remote writes without local ones", "core: ib_check_mr_access", EINVAL,
       [](End& end) { return error_of(ibv_reg_mr(end.pd, end.memory.data(), 64, IBV_ACCESS_REMOTE_WRITE)); }},
      {"memory that is not mapped", "core: ib_umem_get", EFAULT,
       [](End& end) {
         return error_of(ibv_reg_mr(end.pd, reinterpret_cast<void*>(std::uintptr_t{4096}), 64, IBV_ACCESS_LOCAL_WRITE));
       }},
      {"memory behind the end of the address space", "uverbs: reg_mr, the range wraps", EINVAL,
       [](End& end) {
         return error_of(ibv_reg_mr(end.pd, end.memory.data(), SIZE_MAX - 4096, IBV_ACCESS_LOCAL_WRITE));
       }},
      {"an address handle of a port that the device lacks", "uverbs: create_ah, rdma_is_port_valid", EINVAL,
       [](End& end) {
         ibv_ah_attr attr = End::address_of(end);
         attr.port_num = 2;
         return error_of(ibv_create_ah(end.pd, &attr));
       }},
      {"an address handle without a GRH", "core: RoCE needs one", EINVAL,
       [](End& end) {
         ibv_ah_attr attr = End::address_of(end);
         attr.is_global = 0;
         return error_of(ibv_create_ah(end.pd, &attr));
       }},
      {"a multicast group of a queue pair that has none", "core: ib_attach_mcast, UD only", EINVAL,
       [](End& end) { return ibv_attach_mcast(end.qp, &end.gid, 0); }},
      {"a window of neither type", "uverbs: alloc_mw", EINVAL,
       [](End& end) { return error_of(ibv_alloc_mw(end.pd, static_cast<ibv_mw_type>(3))); }},
      {"a port that the device lacks", "uverbs: query_port", EINVAL,
       [](End& end) {
         ibv_port_attr attr{};
         return ibv_query_port(end.context.get(), 2, &attr);
       }},
      {"a domain with objects", "uverbs: the object's use count", EBUSY,
       [](End& end) { return ibv_dealloc_pd(end.pd); }},
      {"a completion queue with queue pairs", "uverbs: the object's use count", EBUSY,
       [](End& end) { return ibv_destroy_cq(end.cq); }},
  };
  return rules;
}

void check(const std::vector<Rule>& rules) {
  for (const Rule& rule : rules) {
    CAPTURE(rule.rule);
    CAPTURE(rule.source);
    End end("rules0");
    errno = 0;
    CHECK(rule.broken(end) == rule.error);
  }
}

}  // namespace

TEST_CASE("ibv_modify_qp: each rule of uverbs, the core and the providers") {
  configure("rules0,addr=" + local_address(1));
  check(modify_rules());
  // What they leave alone: the same moves without the fault.
  End end("rules0");
  REQUIRE(move(end, kToInit, init()) == 0);
  REQUIRE(move(end, kToRtr, rtr(end)) == 0);
  REQUIRE(move(end, kToRts, rts()) == 0);
}

TEST_CASE("a move that fails changes nothing") {
  configure("rules0,addr=" + local_address(1));
  for (const Rule& rule : modify_rules()) {
    CAPTURE(rule.rule);
    End end("rules0");
    rule.broken(end);
    ibv_qp_attr before{};
    ibv_qp_init_attr created{};
    REQUIRE(ibv_query_qp(end.qp, &before, 0, &created) == 0);
    CHECK(before.qp_state <= IBV_QPS_RTR);
    // The right one still works from there.
    if (before.qp_state == IBV_QPS_RESET) REQUIRE(move(end, kToInit, init()) == 0);
    if (before.qp_state <= IBV_QPS_INIT) REQUIRE(move(end, kToRtr, rtr(end)) == 0);
    CHECK(move(end, kToRts, rts()) == 0);
  }
}

TEST_CASE("objects: each rule of uverbs, the core and the providers") {
  configure("rules0,addr=" + local_address(1));
  check(object_rules());
}
