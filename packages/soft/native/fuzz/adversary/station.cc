#include "fuzz/adversary/station.h"

#include <cstring>

#include "fuzz/check.h"
#include "wire/icrc.h"
#include "wire/opcode.h"

namespace verbs::soft::fuzz {

Station::Station(std::uint8_t number) : board(number), number_(number) {
  nic::NicConfig config;
  config.guid = number;
  config.ports.push_back({this, {gid(false), gid(true)}, IBV_MTU_4096, IBV_MTU_4096});
  nic_ = std::make_unique<nic::Nic>(config, *this);
  FUZZ_CHECK(nic_->pds().alloc(&pd_) == 0);
  static constexpr unsigned access[kAreas] = {IBV_ACCESS_REMOTE_READ, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
                                              IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_LOCAL_WRITE};
  for (std::size_t i = 0; i < kAreas; ++i) {
    regions_[i] = reg(board.area(static_cast<Area>(i)), Board::kAreaSize, access[i]);
  }
  words_ = reg(board.words, sizeof board.words, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
}

wire::Gid Station::gid(bool ipv6) const {
  const std::uint8_t address[4] = {10, 0, 0, number_};
  if (!ipv6) return wire::Gid::from_ipv4(address);
  wire::Gid gid;
  gid.bytes[0] = 0xfd;
  gid.bytes[15] = number_;
  return gid;
}

nic::Mr* Station::reg(void* memory, std::size_t size, unsigned access) {
  nic::Mr* mr = nullptr;
  FUZZ_CHECK(nic::check_region(memory, size, access) == 0);
  FUZZ_CHECK(nic_->mrs().reg(pd_, memory, size, reinterpret_cast<std::uint64_t>(memory), access, &mr) == 0);
  return mr;
}

void Station::open(const Terms& terms) {
  board.clear();
  FUZZ_CHECK(nic_->cqs().create(2 * kMessages, nullptr, &send_cq_) == 0);
  FUZZ_CHECK(nic_->cqs().create(2 * kMessages, nullptr, &recv_cq_) == 0);
  ibv_qp_init_attr init = {};
  init.qp_type = terms.type;
  init.cap = {kMessages, kMessages, 1, 1, 0};
  FUZZ_CHECK(nic_->qps().create({.pd = pd_, .send_cq = send_cq_, .recv_cq = recv_cq_}, &init, nullptr, &qp_) == 0);
}

void Station::modify(ibv_qp_attr& attr, ibv_qp_state to, int mask) {
  attr.qp_state = to;
  FUZZ_CHECK(nic_->qps().modify(qp_, &attr, IBV_QP_STATE | mask) == 0);
}

void Station::connect(const Terms& terms, Station& peer) {
  const bool datagrams = terms.type == IBV_QPT_UD;
  const bool reliable = terms.type == IBV_QPT_RC;
  ibv_qp_attr attr = {};
  attr.port_num = 1;
  attr.qkey = kQkey;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  if (reliable) attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  attr.path_mtu = IBV_MTU_256;
  attr.dest_qp_num = peer.qp_->number;
  attr.rq_psn = terms.psn[peer.number_ - 1];
  attr.sq_psn = terms.psn[number_ - 1];
  attr.max_rd_atomic = attr.max_dest_rd_atomic = 2;
  attr.min_rnr_timer = 1;
  attr.timeout = 8;
  attr.retry_cnt = terms.retry_cnt;
  attr.rnr_retry = terms.rnr_retry;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.hop_limit = 64;
  attr.ah_attr.grh.sgid_index = terms.ipv6 ? 1 : 0;
  const wire::Gid to = peer.gid(terms.ipv6);
  std::memcpy(attr.ah_attr.grh.dgid.raw, to.bytes.data(), to.bytes.size());
  modify(attr, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | (datagrams ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
  const int connected = datagrams ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  modify(attr, IBV_QPS_RTR, connected | (reliable ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
  const int retries = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  modify(attr, IBV_QPS_RTS, IBV_QP_SQ_PSN | (reliable ? retries : 0));
  if (datagrams) FUZZ_CHECK(nic_->ahs().create(pd_, &attr.ah_attr, &ah_) == 0);
}

void Station::close() {
  FUZZ_CHECK(nic_->qps().destroy(qp_) == 0);
  FUZZ_CHECK(nic_->cqs().destroy(send_cq_) == 0 && nic_->cqs().destroy(recv_cq_) == 0);
  if (ah_ != nullptr) FUZZ_CHECK(nic_->ahs().destroy(ah_) == 0);
  ah_ = nullptr;
  FUZZ_CHECK(!nic_->scheduler().has_output() && nic_->scheduler().next_deadline() == nic::kNever);
  messages.clear();
  sent.clear();
  received.clear();
  outbox.clear();
  posted = receives = 0;
}

void Station::post_next(Station& peer) {
  if (posted == messages.size()) return;
  const Message& message = messages[posted];
  const bool fetches = message.opcode == IBV_WR_RDMA_READ || message.is_atomic();
  const Area area = fetches ? kResult : kSource;
  ibv_sge sge{board.address(area, posted), message.size, regions_[area]->lkey()};
  ibv_send_wr wr = {};
  ibv_send_wr* bad = nullptr;
  wr.wr_id = posted;
  wr.opcode = message.opcode;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.imm_data = message.imm;
  if (ah_ != nullptr) {
    wr.wr.ud = {&ah_->ibv, peer.qp_->number, kQkey};
  } else if (message.is_atomic()) {
    const bool add = message.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    const auto word = reinterpret_cast<std::uint64_t>(&peer.board.words[add ? 0 : 1]);
    wr.wr.atomic = {word, message.operand, message.operand + 1, peer.words_->rkey()};
  } else {
    const Area remote = message.opcode == IBV_WR_RDMA_READ ? kSource : kTarget;
    wr.wr.rdma = {peer.board.address(remote, posted), peer.regions_[remote]->rkey()};
  }
  FUZZ_CHECK(nic_->data_path().post_send(qp_, &wr, &bad) == 0);
  ++posted;
}

void Station::post_receive() {
  if (receives == kMessages) return;
  ibv_sge sge{board.address(kReceive, receives), kRoom, regions_[kReceive]->lkey()};
  ibv_recv_wr wr = {};
  ibv_recv_wr* bad = nullptr;
  wr.wr_id = receives;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  FUZZ_CHECK(nic_->data_path().post_recv(qp_, &wr, &bad) == 0);
  ++receives;
}

void Station::poll() {
  ibv_wc wc;
  while (send_cq_->poll(1, &wc) == 1) sent.push_back(wc);
  while (recv_cq_->poll(1, &wc) == 1) received.push_back(wc);
}

void Station::commit(std::size_t size) {
  const std::span<const std::uint8_t> frame(buffer_, size);
  // What a NIC sends is well-formed, whatever it was sent.
  const auto view = wire::parse_frame(frame);
  FUZZ_CHECK(view && wire::check_icrc(frame));
  FUZZ_CHECK(wire::opcode_info(view->transport[0]) != nullptr);
  // The network has an end: what does not fit into it is lost.
  if (outbox.size() < 512) outbox.emplace_back(frame.begin(), frame.end());
}

}  // namespace verbs::soft::fuzz
