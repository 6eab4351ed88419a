#include "model/setup/handshake_channel.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "model/base/error.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

doca_error_t HandshakeChannel::open(ibv_context* context, ibv_pd* pd, std::shared_ptr<HandshakeChannel>* point) {
  std::shared_ptr<HandshakeChannel> made(new HandshakeChannel(context, pd));
  const doca_error_t error = made->start();
  if (error == DOCA_SUCCESS) *point = std::move(made);
  return error;
}

doca_error_t HandshakeChannel::start() {
  const Verbs* verbs = Verbs::get();
  memory_.resize((kReceives + kSends) * kSlot);
  mr_ = verbs->reg_mr(pd_, memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE);
  if (!mr_) return error_of(errno, DOCA_ERROR_INITIALIZATION);
  channel_ = verbs->create_comp_channel(context_);
  if (!channel_) return error_of(errno, DOCA_ERROR_INITIALIZATION);
  cq_ = verbs->create_cq(context_, kReceives, channel_);
  send_cq_ = verbs->create_cq(context_, kSends, nullptr);
  bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (!cq_ || !send_cq_ || bell_ < 0 || !make_queue_pair()) return error_of(errno, DOCA_ERROR_INITIALIZATION);
  for (std::uint32_t slot = 0; slot < kReceives; ++slot) {
    if (const int error = post_receive(slot)) return error_of(error, DOCA_ERROR_INITIALIZATION);
  }
  for (std::uint32_t slot = 0; slot < kSends; ++slot) free_sends_.push_back(slot);
  handles_.resize(kSends);
  // The program's signals are for the program's threads.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  doca_error_t error = DOCA_SUCCESS;
  try {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "verbs-doca");
  } catch (const std::system_error&) {
    error = DOCA_ERROR_INITIALIZATION;
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return error;
}

bool HandshakeChannel::make_queue_pair() {
  const Verbs* verbs = Verbs::get();
  ibv_qp_init_attr init{};
  init.send_cq = send_cq_;
  init.recv_cq = cq_;
  init.qp_type = IBV_QPT_UD;
  init.sq_sig_all = 1;
  init.cap = {
      .max_send_wr = kSends, .max_recv_wr = kReceives, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  qp_ = verbs->create_qp(pd_, &init);
  if (!qp_) return false;
  errno = Verbs::extension().set_qp_num(qp_, kHandshakeQpn);
  if (errno != 0) return false;
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

HandshakeChannel::~HandshakeChannel() {
  stopping_ = true;
  if (thread_.joinable()) {
    wake();
    thread_.join();
  }
  const Verbs* verbs = Verbs::get();
  if (qp_) verbs->destroy_qp(qp_);
  if (cq_) verbs->destroy_cq(cq_);
  if (send_cq_) verbs->destroy_cq(send_cq_);
  if (channel_) verbs->destroy_comp_channel(channel_);
  for (ibv_ah* handle : handles_) {
    if (handle) verbs->destroy_ah(handle);
  }
  if (mr_) verbs->dereg_mr(mr_);
  if (bell_ >= 0) close(bell_);
}

bool HandshakeChannel::add_service(const std::string& representor, const std::string& name,
                                   std::shared_ptr<HandshakeHandler> service) {
  {
    const std::lock_guard guard(table_mutex_);
    if (!services_.emplace(std::pair(representor, name), std::move(service)).second) return false;
  }
  wake();
  return true;
}

void HandshakeChannel::add_client(std::uint64_t client_id, std::shared_ptr<HandshakeHandler> client) {
  {
    const std::lock_guard guard(table_mutex_);
    clients_[client_id] = std::move(client);
  }
  wake();
}

void HandshakeChannel::remove(const HandshakeHandler* attendant) {
  const std::lock_guard guard(table_mutex_);
  std::erase_if(services_, [&](const auto& entry) { return entry.second.get() == attendant; });
  std::erase_if(clients_, [&](const auto& entry) { return entry.second.get() == attendant; });
}

void HandshakeChannel::wake() { eventfd_write(bell_, 1); }

int HandshakeChannel::post_receive(std::uint32_t slot) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory_.data() + slot * kSlot), kGrh + HandshakeMessage::kSize,
              mr_->lkey};
  ibv_recv_wr request{};
  request.wr_id = slot;
  request.sg_list = &sge;
  request.num_sge = 1;
  return Verbs::post_recv(qp_, &request);
}

void HandshakeChannel::send(const HandshakeMessage& datagram, const UdAddress& to) {
  const Verbs* verbs = Verbs::get();
  const std::lock_guard guard(send_mutex_);
  if (free_sends_.empty()) reap();
  if (free_sends_.empty()) return;
  const std::uint32_t slot = free_sends_.back();
  if (handles_[slot]) verbs->destroy_ah(std::exchange(handles_[slot], nullptr));
  ibv_ah_attr address{};
  address.is_global = 1;
  address.port_num = 1;
  address.grh.hop_limit = 64;
  std::copy(to.gid.begin(), to.gid.end(), address.grh.dgid.raw);
  handles_[slot] = verbs->create_ah(pd_, &address);
  if (!handles_[slot]) return;
  std::uint8_t* bytes = memory_.data() + (kReceives + slot) * kSlot;
  datagram.write(std::span<std::uint8_t, HandshakeMessage::kSize>(bytes, HandshakeMessage::kSize));
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(bytes), HandshakeMessage::kSize, mr_->lkey};
  ibv_send_wr request{};
  request.wr_id = slot;
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.wr.ud.ah = handles_[slot];
  request.wr.ud.remote_qpn = to.qpn;
  request.wr.ud.remote_qkey = kHandshakeQkey;
  if (Verbs::post_send(qp_, &request) == 0) free_sends_.pop_back();
}

void HandshakeChannel::run() {
  const Verbs* verbs = Verbs::get();
  bool armed = false;
  while (!stopping_) {
    // Armed first, then emptied: nothing falls between the two.
    if (!armed) ibv_req_notify_cq(cq_, 0);
    armed = true;
    const bool more = take_in();
    // Has its turn between two queues full of datagrams too, so that a flood stops no keep-alive.
    const Nanos next = tick();
    pollfd fds[] = {{channel_->fd, POLLIN, 0}, {bell_, POLLIN, 0}};
    const Nanos wait = more ? 0 : next == kNever ? -1 : std::max<Nanos>(0, (next - now()) / kMillisecond + 1);
    if (poll(fds, 2, static_cast<int>(wait)) <= 0) continue;
    // The channel's descriptor is a blocking one, which only events make readable: the packets of the connections wake
    // whoever waits for messages, and not this thread.
    ibv_cq* cq = nullptr;
    void* owner = nullptr;
    if (fds[0].revents != 0 && verbs->get_cq_event(channel_, &cq, &owner) == 0) {
      verbs->ack_cq_events(cq, 1);
      armed = false;
    }
    eventfd_t rung = 0;
    if (fds[1].revents != 0) eventfd_read(bell_, &rung);
  }
}

bool HandshakeChannel::take_in() {
  const Verbs* verbs = Verbs::get();
  ibv_wc completions[16];
  for (std::uint32_t taken = 0; taken < kReceives;) {
    const int count = ibv_poll_cq(cq_, 16, completions);
    if (count <= 0) return false;
    taken += static_cast<std::uint32_t>(count);
    for (int i = 0; i < count; ++i) {
      ibv_wc& wc = completions[i];
      const auto slot = static_cast<std::uint32_t>(wc.wr_id);
      std::uint8_t* bytes = memory_.data() + slot * kSlot;
      ibv_ah_attr from{};
      HandshakeMessage datagram;
      UdAddress sender;
      bool good = wc.status == IBV_WC_SUCCESS && wc.byte_len >= kGrh &&
                  datagram.read({bytes + kGrh, wc.byte_len - kGrh}) &&
                  verbs->init_ah_from_wc(context_, 1, &wc, reinterpret_cast<ibv_grh*>(bytes), &from) == 0;
      if (good) sender = {gid_of(from.grh.dgid), wc.src_qp};
      post_receive(slot);
      if (good) dispatch(datagram, sender);
    }
  }
  return true;
}

void HandshakeChannel::reap() {
  ibv_wc completions[kSends];
  const int count = ibv_poll_cq(send_cq_, kSends, completions);
  for (int i = 0; i < count; ++i) free_sends_.push_back(static_cast<std::uint32_t>(completions[i].wr_id));
}

std::shared_ptr<HandshakeHandler> HandshakeChannel::receiver_of(const HandshakeMessage& datagram) {
  const std::lock_guard guard(table_mutex_);
  if (datagram.type == HandshakeMessage::Type::kConnect || datagram.type == HandshakeMessage::Type::kCancel) {
    const auto found = services_.find({datagram.representor, datagram.name});
    return found == services_.end() ? nullptr : found->second;
  }
  const auto found = clients_.find(datagram.client_id);
  return found == clients_.end() ? nullptr : found->second;
}

void HandshakeChannel::dispatch(const HandshakeMessage& datagram, const UdAddress& sender) {
  if (const std::shared_ptr<HandshakeHandler> receiver = receiver_of(datagram)) {
    receiver->on_datagram(datagram, sender);
  } else if (datagram.type == HandshakeMessage::Type::kConnect) {
    HandshakeMessage answer;
    answer.type = HandshakeMessage::Type::kReject;
    answer.client_id = datagram.client_id;
    answer.end.mtu = IBV_MTU_256;
    send(answer, sender);
  }
}

Nanos HandshakeChannel::tick() {
  std::set<std::shared_ptr<HandshakeHandler>> attendants;
  {
    const std::lock_guard guard(table_mutex_);
    for (const auto& [name, service] : services_) attendants.insert(service);
    for (const auto& [id, client] : clients_) attendants.insert(client);
  }
  Nanos next = kNever;
  const Nanos time = now();
  for (const auto& attendant : attendants) next = std::min(next, attendant->on_tick(time));
  return next;
}

}  // namespace verbs::doca_comm::model
