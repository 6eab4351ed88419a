#include "test/support/hostile.h"

#include <doctest/doctest.h>
#include <endian.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "model/bluefield/model.h"

namespace verbs::doca_comm::model::test {

namespace {

constexpr std::uint32_t kFirstPsn = 77;
constexpr std::size_t kGrh = 40;

}  // namespace

std::string data_frame(std::uint8_t kind, std::uint32_t size, std::string_view message) {
  return control_frame(kind, size) + std::string(message);
}

std::string control_frame(std::uint8_t kind, std::uint32_t value) {
  std::string frame(8, '\0');
  frame[0] = static_cast<char>(kind);
  std::memcpy(frame.data() + 4, &value, sizeof value);
  return frame;
}

Hostile::Hostile(const char* device) : verbs_(attached_verbs()), memory_(kSlot * kSlots) {
  REQUIRE(verbs_);
  int count = 0;
  ibv_device** list = verbs_->get_device_list(&count);
  for (int i = 0; i < count; ++i) {
    if (std::string(verbs_->get_device_name(list[i])) == device) context_ = verbs_->open_device(list[i]);
  }
  verbs_->free_device_list(list);
  REQUIRE(context_);
  pd_ = verbs_->alloc_pd(context_);
  cq_ = verbs_->create_cq(context_, 4096, nullptr);
  responses_ = verbs_->create_cq(context_, kReceives, nullptr);
  mr_ = verbs_->reg_mr(pd_, memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE);
  REQUIRE(mr_);
  handshake_qp_ = create_pair(IBV_QPT_UD);
  data_ = create_pair(IBV_QPT_RC);
  control_ = create_pair(IBV_QPT_RC);
  bulk_ = create_pair(IBV_QPT_RC);
  for (std::uint32_t slot = 0; slot < kReceives; ++slot) {
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory_.data() + slot * kSlot), kSlot, mr_->lkey};
    ibv_recv_wr receive{};
    receive.wr_id = slot;
    receive.sg_list = &sge;
    receive.num_sge = 1;
    REQUIRE(Verbs::post_recv(handshake_qp_, &receive) == 0);
  }
}

Hostile::~Hostile() {
  for (ibv_qp* qp : {handshake_qp_, data_, control_, bulk_}) CHECK(verbs_->destroy_qp(qp) == 0);
  if (address_handle_) CHECK(verbs_->destroy_ah(address_handle_) == 0);
  CHECK(verbs_->dereg_mr(mr_) == 0);
  CHECK(verbs_->destroy_cq(cq_) == 0);
  CHECK(verbs_->destroy_cq(responses_) == 0);
  CHECK(verbs_->dealloc_pd(pd_) == 0);
  CHECK(verbs_->close_device(context_) == 0);
}

ibv_qp* Hostile::create_pair(ibv_qp_type type) {
  const bool ud = type == IBV_QPT_UD;
  ibv_qp_init_attr init{};
  init.send_cq = cq_;
  init.recv_cq = ud ? responses_ : cq_;
  init.qp_type = type;
  init.sq_sig_all = 1;
  init.cap = {.max_send_wr = kSlots,
              .max_recv_wr = ud ? kReceives : 1,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  ibv_qp* qp = verbs_->create_qp(pd_, &init);
  REQUIRE(qp);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = kHandshakeQkey;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;  // for the keep-alive of the service
  const int last = ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  REQUIRE(verbs_->modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | last) == 0);
  if (!ud) return qp;
  attr.qp_state = IBV_QPS_RTR;
  REQUIRE(verbs_->modify_qp(qp, &attr, IBV_QP_STATE) == 0);
  attr.qp_state = IBV_QPS_RTS;
  REQUIRE(verbs_->modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
  return qp;
}

HandshakeMessage Hostile::request(const std::string& name) {
  static std::uint64_t clients = 1000;
  ServiceAddress address;
  REQUIRE(ServiceEntry::find(kRepresentor, name, &address) == 0);
  HandshakeMessage message;
  message.client_id = ++clients;
  message.key = address.key;
  message.representor = kRepresentor;
  message.name = name;
  message.end = half();
  service_ = address.gid;
  return message;
}

EndAttributes Hostile::half(std::uint8_t features) const {
  return {.data_qpn = data_->qp_num,
          .control_qpn = control_->qp_num,
          .psn = kFirstPsn,
          .max_msg_size = 4080,
          .recv_queue_size = 64,
          .mtu = IBV_MTU_1024,
          .features = features};
}

void Hostile::serve(const std::string& name, const Gid& own, const Gid& clients) {
  service_ = clients;
  REQUIRE(ServiceEntry::add(kRepresentor, name, {own, handshake_qp_->qp_num, {}}, &entry_) == 0);
}

void Hostile::send(const HandshakeMessage& message) {
  std::uint8_t bytes[HandshakeMessage::kSize];
  message.write(bytes);
  send(std::string_view(reinterpret_cast<const char*>(bytes), sizeof bytes));
}

void Hostile::send(std::string_view bytes) {
  if (!address_handle_) {
    ibv_ah_attr address{};
    address.is_global = 1;
    address.port_num = 1;
    address.grh.hop_limit = 64;
    std::copy(service_.begin(), service_.end(), address.grh.dgid.raw);
    address_handle_ = verbs_->create_ah(pd_, &address);
    REQUIRE(address_handle_);
  }
  post(handshake_qp_, bytes);
}

std::optional<HandshakeMessage> Hostile::receive() {
  ibv_wc completion;
  while (Verbs::poll(responses_, 1, &completion) > 0) {
    HandshakeMessage message;
    const std::uint8_t* bytes = memory_.data() + completion.wr_id * kSlot + kGrh;
    const bool good = message.read({bytes, completion.byte_len - kGrh});
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(bytes - kGrh), kSlot, mr_->lkey};
    ibv_recv_wr receive{};
    receive.wr_id = completion.wr_id;
    receive.sg_list = &sge;
    receive.num_sge = 1;
    REQUIRE(Verbs::post_recv(handshake_qp_, &receive) == 0);
    if (good) return message;
  }
  return std::nullopt;
}

std::optional<HandshakeMessage> Hostile::receive(std::uint64_t client_id) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < limit) {
    const std::optional<HandshakeMessage> message = receive();
    if (message && message->client_id == client_id) return message;
    if (!message) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return std::nullopt;
}

void Hostile::connect_pair(ibv_qp* qp, std::uint32_t qpn, const EndAttributes& service) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = qpn;
  attr.rq_psn = service.psn;
  attr.max_dest_rd_atomic = 1;
  attr.min_rnr_timer = 1;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.hop_limit = 64;
  std::copy(service_.begin(), service_.end(), attr.ah_attr.grh.dgid.raw);
  REQUIRE(verbs_->modify_qp(qp, &attr,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  attr.sq_psn = kFirstPsn;
  attr.max_rd_atomic = 1;
  REQUIRE(verbs_->modify_qp(qp, &attr,
                            IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

void Hostile::establish(const EndAttributes& service) {
  connect_pair(data_, service.data_qpn, service);
  connect_pair(control_, service.control_qpn, service);
}

void Hostile::post(ibv_qp* qp, std::string_view bytes, ibv_wr_opcode opcode, std::uint32_t rkey) {
  REQUIRE(bytes.size() <= kSlot);
  const std::uint32_t slot = next_;
  next_ = next_ + 1 == kSlots ? kReceives : next_ + 1;
  std::copy(bytes.begin(), bytes.end(), memory_.begin() + static_cast<std::ptrdiff_t>(slot * kSlot));
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory_.data() + slot * kSlot), static_cast<std::uint32_t>(bytes.size()),
              mr_->lkey};
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = opcode;
  if (qp == handshake_qp_) {
    request.wr.ud.ah = address_handle_;
    request.wr.ud.remote_qpn = kHandshakeQpn;
    request.wr.ud.remote_qkey = kHandshakeQkey;
  } else if (opcode == IBV_WR_SEND_WITH_INV) {
    request.invalidate_rkey = rkey;
  } else if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    request.wr.atomic.rkey = rkey;
  } else {
    request.wr.rdma.rkey = rkey;
    request.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(memory_.data());
  }
  // A full queue drops the rest of a flood.
  Verbs::post_send(qp, &request);
}

int Hostile::completed() {
  ibv_wc completions[16];
  int all = 0, count = 0;
  while ((count = Verbs::poll(cq_, 16, completions)) > 0) all += count;
  return all;
}

}  // namespace verbs::doca_comm::model::test
