// XRC between two NICs: initiators at one, targets and shared queues at the other.
#pragma once

#include "test/nic/virtual_network.h"

namespace verbs::soft::test {

inline constexpr unsigned kAllAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

inline nic::Qp* create(Station& station, ibv_qp_type type, const nic::QpParts& parts) {
  ibv_qp_init_attr init = {};
  init.qp_type = type;
  init.cap = {64, 64, 4, 4, 128};
  nic::Qp* qp = nullptr;
  REQUIRE(station.nic->qps().create(parts, &init, &station, &qp) == 0);
  CHECK(init.cap.max_recv_wr == 0);
  CHECK((init.cap.max_send_wr == 0) == (type == IBV_QPT_XRC_RECV));
  return qp;
}

inline void to_init(Station& station, nic::Qp* qp) {
  ibv_qp_attr attr = {};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = kAllAccess;
  REQUIRE(station.nic->qps().modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
          0);
}

inline void to_rtr(Station& station, nic::Qp* qp, std::uint32_t dest, const wire::Gid& dgid, int more) {
  ibv_qp_attr attr = {};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = dest;
  attr.rq_psn = 0xfffff0;
  attr.max_dest_rd_atomic = 4;
  attr.min_rnr_timer = 1;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.hop_limit = 64;
  std::memcpy(attr.ah_attr.grh.dgid.raw, dgid.bytes.data(), 16);
  const int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | more;
  REQUIRE(station.nic->qps().modify(qp, &attr, mask) == 0);
}

inline void to_rts(Station& station, nic::Qp* qp) {
  ibv_qp_attr attr = {};
  attr.qp_state = IBV_QPS_RTS;
  attr.sq_psn = 0xfffff0;
  attr.timeout = 10;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  attr.max_rd_atomic = 4;
  REQUIRE(station.nic->qps().modify(qp, &attr,
                                    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                        IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

inline nic::Xrcd* open_domain(Station& station) {
  nic::Xrcd* xrcd = nullptr;
  REQUIRE(station.nic->xrcds().open(nullptr, true, false, &xrcd) == 0);
  return xrcd;
}

// Initiators at station a, targets and shared queues at station b.
struct Xrc {
  VirtualNetwork net;
  std::vector<std::uint8_t> near = pattern(65536);
  std::vector<std::uint8_t> far = std::vector<std::uint8_t>(65536);
  nic::Mr* local = net.a.reg(near.data(), near.size(), kAllAccess);
  nic::Mr* remote = net.b.reg(far.data(), far.size(), kAllAccess);
  nic::Xrcd* xrcd = open_domain(net.b);
  std::vector<nic::Qp*> initiators, targets;

  explicit Xrc(int pairs = 1) {
    for (int i = 0; i < pairs; ++i) {
      initiators.push_back(create(net.a, IBV_QPT_XRC_SEND, {.pd = net.a.pd, .send_cq = net.a.cq}));
      targets.push_back(create(net.b, IBV_QPT_XRC_RECV, {.xrcd = xrcd}));
      to_init(net.a, initiators.back());
      to_init(net.b, targets.back());
      to_rtr(net.b, targets.back(), initiators.back()->number, net.a.gid,
             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
      to_rtr(net.a, initiators.back(), targets.back()->number, net.b.gid, 0);
      to_rts(net.a, initiators.back());
    }
  }

  nic::Srq* create_srq(nic::Cq* cq = nullptr, nic::Pd* pd = nullptr, nic::Xrcd* domain = nullptr) {
    ibv_srq_attr attr{.max_wr = 16, .max_sge = 2, .srq_limit = 0};
    nic::Srq* srq = nullptr;
    REQUIRE(net.b.nic->srqs().create(
                pd != nullptr ? pd : net.b.pd, &attr, &net.b, &srq,
                {.cq = cq != nullptr ? cq : net.b.cq, .xrcd = domain != nullptr ? domain : xrcd}) == 0);
    return srq;
  }

  void post(nic::Srq* srq, std::uint64_t wr_id, std::size_t offset, std::uint32_t length) {
    ibv_sge sge = sge_of(far.data() + offset, length, remote);
    ibv_recv_wr wr = {};
    ibv_recv_wr* bad = nullptr;
    wr.wr_id = wr_id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    REQUIRE(net.b.nic->data_path().post_srq_recv(srq, &wr, &bad) == 0);
  }

  ibv_send_wr request(ibv_sge* sge, ibv_wr_opcode opcode, std::uint32_t srqn, std::uint32_t length) {
    *sge = sge_of(near.data(), length, local);
    ibv_send_wr wr = {};
    wr.wr_id = 7;
    wr.opcode = opcode;
    wr.sg_list = sge;
    wr.num_sge = 1;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.qp_type.xrc.remote_srqn = srqn;
    return wr;
  }
  void start(ibv_send_wr wr, std::size_t pair = 0) {
    ibv_send_wr* bad = nullptr;
    REQUIRE(net.a.nic->data_path().post_send(initiators[pair], &wr, &bad) == 0);
  }
  ibv_wc finish() {
    net.run();
    const auto all = net.a.poll();
    REQUIRE(all.size() == 1);
    return all[0];
  }
  ibv_wc_status send(std::uint32_t srqn, std::uint32_t length, std::size_t pair = 0) {
    ibv_sge sge;
    start(request(&sge, IBV_WR_SEND, srqn, length), pair);
    return finish().status;
  }
  ibv_wc_status rdma(ibv_wr_opcode opcode, std::uint32_t srqn, std::uint32_t length, std::size_t offset = 0) {
    ibv_sge sge;
    ibv_send_wr wr = request(&sge, opcode, srqn, length);
    wr.imm_data = 0x1234;
    wr.wr.rdma = {reinterpret_cast<std::uintptr_t>(far.data()) + offset, remote->rkey()};
    start(wr);
    return finish().status;
  }
};

}  // namespace verbs::soft::test
