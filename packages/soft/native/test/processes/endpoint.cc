#include "test/processes/endpoint.h"

#include <sys/mman.h>

namespace verbs::soft::test::processes {

namespace {

constexpr unsigned kRemote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

}  // namespace

Endpoint::Endpoint() {
  ibv_device** list = ibv_get_device_list(nullptr);
  require(list && list[0], "there is no device");
  context_ = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  require(context_, "the device cannot be opened");
  pd_ = ibv_alloc_pd(context_);
  cq_ = ibv_create_cq(context_, 64, nullptr, nullptr, 0);
  memory_ = mmap(nullptr, kMemory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(pd_ && cq_ && memory_ != MAP_FAILED, "no protection domain, completion queue or memory");
  mr_ = ibv_reg_mr(pd_, memory_, kMemory, IBV_ACCESS_LOCAL_WRITE | kRemote);
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq_;
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {.max_send_wr = 16, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  qp_ = ibv_create_qp(pd_, &attr);
  require(mr_ && qp_ && ibv_query_gid(context_, 1, 0, &gid_) == 0, "no region, queue pair or GID");
}

Endpoint::~Endpoint() {
  ibv_destroy_qp(qp_);
  ibv_dereg_mr(mr_);
  unmap();
  ibv_destroy_cq(cq_);
  ibv_dealloc_pd(pd_);
  ibv_close_device(context_);
}

Address Endpoint::address() const { return {qp_->qp_num, gid_, reinterpret_cast<std::uint64_t>(memory_), mr_->rkey}; }

void Endpoint::connect(const Address& peer) {
  peer_ = peer;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = kRemote;
  require(ibv_modify_qp(qp_, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0, "INIT");
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = peer.qpn;
  attr.max_dest_rd_atomic = 1;
  attr.min_rnr_timer = 12;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.dgid = peer.gid;
  attr.ah_attr.grh.hop_limit = 64;
  require(ibv_modify_qp(qp_, &attr,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
          "RTR");
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = kTimeout;
  attr.retry_cnt = kRetries;
  attr.rnr_retry = 7;
  attr.max_rd_atomic = 1;
  const int mask =
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
  // A peer that does what it must not may have ended the connection already: what is posted is flushed then.
  if (ibv_modify_qp(qp_, &attr, mask) == 0) return;
  ibv_qp_init_attr init;
  require(ibv_query_qp(qp_, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_ERR, "RTS");
}

void Endpoint::unmap() {
  if (memory_) munmap(memory_, kMemory);
  memory_ = nullptr;
}

void Endpoint::post(ibv_wr_opcode opcode) {
  ibv_sge sge{reinterpret_cast<std::uint64_t>(mr_->addr), kRequest, mr_->lkey};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.opcode = opcode;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma.remote_addr = peer_.memory;
  wr.wr.rdma.rkey = peer_.rkey;
  require(ibv_post_send(qp_, &wr, &bad) == 0, "a request was rejected");
  ++outstanding_;
}

ibv_wc_status Endpoint::run(ibv_wr_opcode opcode, int done) {
  for (int completed = 0; done == 0 || completed < done; ++completed) {
    while (outstanding_ < kOutstanding) post(opcode);
    ibv_wc wc{};
    while (ibv_poll_cq(cq_, 1, &wc) == 0) {
    }
    --outstanding_;
    if (wc.status != IBV_WC_SUCCESS) return wc.status;
  }
  return IBV_WC_SUCCESS;
}

}  // namespace verbs::soft::test::processes
