#include "model/setup/handshake_channel.h"

#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "model/base/error.h"
#include "model/nic/verbs.h"
#include "verbs_soft_boundary.h"
#include "verbs_soft_worker.h"

namespace verbs::doca_comm::model {

doca_error_t HandshakeChannel::open(ibv_context* context, ibv_pd* pd, std::shared_ptr<HandshakeChannel>* channel) {
  std::shared_ptr<HandshakeChannel> created(new HandshakeChannel(context, pd));
  const doca_error_t error = created->start();
  if (error == DOCA_SUCCESS) *channel = std::move(created);
  return error;
}

doca_error_t HandshakeChannel::start() {
  const Verbs* verbs = Verbs::get();
  memory_.resize(kRestAt + kRest);
  mr_ = verbs->reg_mr(pd_, memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE);
  if (!mr_) return error_of(errno, DOCA_ERROR_INITIALIZATION);
  channel_ = verbs->create_comp_channel(context_);
  if (!channel_) return error_of(errno, DOCA_ERROR_INITIALIZATION);
  cq_ = verbs->create_cq(context_, kReceives, channel_);
  if (!cq_) return error_of(errno, DOCA_ERROR_INITIALIZATION);
  send_cq_ = verbs->create_cq(context_, kSends, nullptr);
  if (!send_cq_) return error_of(errno, DOCA_ERROR_INITIALIZATION);
  if (const int error = wake_.open()) return error_of(error, DOCA_ERROR_INITIALIZATION);
  if (!create_queue_pair()) return error_of(errno, DOCA_ERROR_INITIALIZATION);
  for (std::uint32_t slot = 0; slot < kReceives; ++slot) {
    if (const int error = post_receive(slot)) return error_of(error, DOCA_ERROR_INITIALIZATION);
  }
  for (std::uint32_t slot = 0; slot < kSends; ++slot) free_sends_.push_back(slot);
  address_handles_.resize(kSends);
  const verbs::soft::model::WorkerSignals signals;
  try {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "verbs-doca");
  } catch (const std::system_error&) {
    return DOCA_ERROR_INITIALIZATION;
  }
  return DOCA_SUCCESS;
}

bool HandshakeChannel::create_queue_pair() {
  const Verbs* verbs = Verbs::get();
  ibv_qp_init_attr init{};
  init.send_cq = send_cq_;
  init.recv_cq = cq_;
  init.qp_type = IBV_QPT_UD;
  init.sq_sig_all = 1;
  init.cap = {
      .max_send_wr = kSends, .max_recv_wr = kReceives, .max_send_sge = 1, .max_recv_sge = 2, .max_inline_data = 0};
  qp_ = verbs->create_qp(pd_, &init);
  if (!qp_) return false;
  // Another process at this address may have the number. Clients find this one by the registry.
  errno = Verbs::extension().set_qp_num(qp_, kHandshakeQpn);
  if (errno != 0 && errno != EADDRINUSE) return false;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = kHandshakeQkey;
  errno = verbs->modify_qp(qp_, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  if (errno != 0) return false;
  attr.qp_state = IBV_QPS_RTR;
  errno = verbs->modify_qp(qp_, &attr, IBV_QP_STATE);
  if (errno != 0) return false;
  attr.qp_state = IBV_QPS_RTS;
  errno = verbs->modify_qp(qp_, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
  return errno == 0;
}

void HandshakeChannel::stop() {
  stopping_ = true;
  if (!thread_.joinable()) return;
  wake_.signal();
  thread_.join();
}

HandshakeChannel::~HandshakeChannel() {
  stop();
  const Verbs* verbs = Verbs::get();
  if (qp_) verbs->destroy_qp(qp_);
  if (cq_) verbs->destroy_cq(cq_);
  if (send_cq_) verbs->destroy_cq(send_cq_);
  if (channel_) verbs->destroy_comp_channel(channel_);
  for (ibv_ah* handle : address_handles_) {
    if (handle) verbs->destroy_ah(handle);
  }
  if (mr_) verbs->dereg_mr(mr_);
}

bool HandshakeChannel::add_service(const std::string& representor, const std::string& name,
                                   std::shared_ptr<HandshakeHandler> service) {
  {
    const std::lock_guard guard(table_mutex_);
    if (!services_.emplace(std::pair(representor, name), std::move(service)).second) return false;
  }
  wake_.signal();
  return true;
}

void HandshakeChannel::add_client(std::uint64_t client_id, std::shared_ptr<HandshakeHandler> client) {
  {
    const std::lock_guard guard(table_mutex_);
    clients_[client_id] = std::move(client);
  }
  wake_.signal();
}

void HandshakeChannel::remove(const HandshakeHandler* handler) {
  const std::lock_guard guard(table_mutex_);
  std::erase_if(services_, [&](const auto& entry) { return entry.second.get() == handler; });
  std::erase_if(clients_, [&](const auto& entry) { return entry.second.get() == handler; });
}

int HandshakeChannel::post_receive(std::uint32_t slot) {
  ibv_sge sges[] = {
      {reinterpret_cast<std::uintptr_t>(memory_.data() + slot * kSlot), kGrh + HandshakeMessage::kSize, mr_->lkey},
      {reinterpret_cast<std::uintptr_t>(memory_.data() + kRestAt), kRest, mr_->lkey}};
  ibv_recv_wr request{};
  request.wr_id = slot;
  request.sg_list = sges;
  request.num_sge = 2;
  return Verbs::post_recv(qp_, &request);
}

void HandshakeChannel::send(const HandshakeMessage& message, const UdAddress& to) {
  const Verbs* verbs = Verbs::get();
  const std::lock_guard guard(send_mutex_);
  if (free_sends_.empty()) poll_sends();
  if (free_sends_.empty()) return;
  const std::uint32_t slot = free_sends_.back();
  if (address_handles_[slot]) verbs->destroy_ah(std::exchange(address_handles_[slot], nullptr));
  ibv_ah_attr address{};
  address.is_global = 1;
  address.port_num = 1;
  address.grh.hop_limit = 64;
  std::copy(to.gid.begin(), to.gid.end(), address.grh.dgid.raw);
  address_handles_[slot] = verbs->create_ah(pd_, &address);
  if (!address_handles_[slot]) return;
  std::uint8_t* bytes = memory_.data() + (kReceives + slot) * kSlot;
  message.write(std::span<std::uint8_t, HandshakeMessage::kSize>(bytes, HandshakeMessage::kSize));
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(bytes), HandshakeMessage::kSize, mr_->lkey};
  ibv_send_wr request{};
  request.wr_id = slot;
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.wr.ud.ah = address_handles_[slot];
  request.wr.ud.remote_qpn = to.qpn;
  request.wr.ud.remote_qkey = kHandshakeQkey;
  if (Verbs::post_send(qp_, &request) == 0) free_sends_.pop_back();
}

void HandshakeChannel::run() {
  const Verbs* verbs = Verbs::get();
  bool armed = false;
  while (!stopping_) {
    // Armed before it is emptied: a completion in between gives an event.
    if (!armed) ibv_req_notify_cq(cq_, 0);
    armed = true;
    const bool more = receive();
    // Also between two queues full of datagrams, so that a flood delays no keep-alive.
    // Without memory they run a little later.
    const auto later = [](int) { return now() + kMillisecond; };
    const Nanos next = soft::contain([this] { return run_timers(); }, later);
    pollfd fds[] = {{channel_->fd, POLLIN, 0}, {wake_.fd(), POLLIN, 0}};
    const Nanos wait = more ? 0 : next == kNever ? -1 : std::max<Nanos>(0, (next - now()) / kMillisecond + 1);
    if (poll(fds, 2, static_cast<int>(wait)) <= 0) continue;
    // This descriptor is a blocking one, which becomes readable by events only. Packets of the connections do not wake
    // this thread, but the threads that wait for messages.
    ibv_cq* cq = nullptr;
    void* owner = nullptr;
    if (fds[0].revents != 0 && verbs->get_cq_event(channel_, &cq, &owner) == 0) {
      verbs->ack_cq_events(cq, 1);
      armed = false;
    }
    if (fds[1].revents != 0) wake_.drain();
  }
}

bool HandshakeChannel::receive() {
  const Verbs* verbs = Verbs::get();
  ibv_wc completions[16];
  for (std::uint32_t received = 0; received < kReceives;) {
    const int count = ibv_poll_cq(cq_, 16, completions);
    if (count <= 0) return false;
    received += static_cast<std::uint32_t>(count);
    for (int i = 0; i < count; ++i) {
      ibv_wc& wc = completions[i];
      const auto slot = static_cast<std::uint32_t>(wc.wr_id);
      std::uint8_t* bytes = memory_.data() + slot * kSlot;
      ibv_ah_attr attr{};
      HandshakeMessage message;
      UdAddress from;
      bool valid = wc.status == IBV_WC_SUCCESS && wc.byte_len >= kGrh &&
                   message.read({bytes + kGrh, wc.byte_len - kGrh}) &&
                   verbs->init_ah_from_wc(context_, 1, &wc, reinterpret_cast<ibv_grh*>(bytes), &attr) == 0;
      if (valid) from = {gid_of(attr.grh.dgid), wc.src_qp};
      post_receive(slot);
      // Without memory a datagram is lost, as on a network; its sender repeats it.
      const auto deliver = [&] { return dispatch(message, from), true; };
      if (valid) soft::contain(deliver, [](int) { return false; });
    }
  }
  return true;
}

void HandshakeChannel::poll_sends() {
  ibv_wc completions[kSends];
  const int count = ibv_poll_cq(send_cq_, kSends, completions);
  for (int i = 0; i < count; ++i) free_sends_.push_back(static_cast<std::uint32_t>(completions[i].wr_id));
}

std::shared_ptr<HandshakeHandler> HandshakeChannel::handler_of(const HandshakeMessage& message) {
  const std::lock_guard guard(table_mutex_);
  using Type = HandshakeMessage::Type;
  if (message.type == Type::kConnect || message.type == Type::kCancel || message.type == Type::kLeave ||
      message.type == Type::kDismissed || (message.pairs() && !message.representor.empty())) {
    const auto found = services_.find({message.representor, message.name});
    return found == services_.end() ? nullptr : found->second;
  }
  const auto found = clients_.find(message.client_id);
  return found == clients_.end() ? nullptr : found->second;
}

void HandshakeChannel::dispatch(const HandshakeMessage& message, const UdAddress& from) {
  if (const std::shared_ptr<HandshakeHandler> handler = handler_of(message)) {
    handler->on_handshake(message, from);
  } else if (message.type == HandshakeMessage::Type::kConnect) {
    send(message.answer(HandshakeMessage::Type::kReject), from);
  } else if (message.type == HandshakeMessage::Type::kLeave) {
    send(message.answer(HandshakeMessage::Type::kGone), from);
  } else if (message.type == HandshakeMessage::Type::kDismiss) {
    send(message.answer(HandshakeMessage::Type::kDismissed), from);
  }
}

Nanos HandshakeChannel::run_timers() {
  std::set<std::shared_ptr<HandshakeHandler>> handlers;
  {
    const std::lock_guard guard(table_mutex_);
    for (const auto& [name, service] : services_) handlers.insert(service);
    for (const auto& [id, client] : clients_) handlers.insert(client);
  }
  Nanos next = kNever;
  const Nanos time = now();
  for (const auto& handler : handlers) next = std::min(next, handler->on_timer(time));
  liveness_.prune(time);
  return next;
}

}  // namespace verbs::doca_comm::model
