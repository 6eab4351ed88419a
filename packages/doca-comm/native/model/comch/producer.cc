#include "model/comch/producer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "model/base/boundary.h"
#include "model/base/error.h"
#include "model/comch/control.h"
#include "model/nic/reliable.h"
#include "model/nic/verbs.h"
#include "model/setup/handshake_channel.h"

namespace verbs::doca_comm::model::comch {

namespace {

using ProducerPool = HandlePool<doca_comch_producer, Producer>;

// Messages in flight to one consumer: with more, submit is AGAIN.
constexpr std::uint32_t kConsumerQueue = 256;
constexpr Nanos kAskInterval = 40 * kMillisecond;

// A message that does not fit into the consumer's buffer is refused by its NIC as an invalid request.
doca_error_t status_of(ibv_wc_status status) {
  if (status == IBV_WC_REM_INV_REQ_ERR) return DOCA_ERROR_TOO_BIG;
  return status == IBV_WC_RETRY_EXC_ERR ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_IO_FAILED;
}

}  // namespace

Producer* find_producer(const doca_comch_producer* handle) { return ProducerPool::get().find(handle); }

doca_error_t destroy_producer(doca_comch_producer* handle) {
  Producer* producer = find_producer(handle);
  if (!producer) return DOCA_ERROR_INVALID_VALUE;
  if (!producer->idle()) return DOCA_ERROR_IN_USE;
  model::retire(*producer);
  ProducerPool::get().remove(handle);
  return DOCA_SUCCESS;
}

doca_error_t Producer::create(doca_comch_connection* connection, doca_comch_producer** producer) {
  Link* link = find_link(connection);
  if (!link) return DOCA_ERROR_INVALID_VALUE;
  if (const int error = Faults::get().next(Fault::kAllocate)) return error_of(error, DOCA_ERROR_NO_MEMORY);
  std::shared_ptr<Link> kept = connection->object;
  doca_dev* dev = link->control->device();
  std::uint32_t id = 0;
  {
    const std::lock_guard guard(link->mutex);
    if (!link->peer || link->peer->lost || link->peer->connection->peer_disconnected()) return DOCA_ERROR_BAD_STATE;
    if (!link->peer->connection->has_fast_path()) return DOCA_ERROR_NOT_PERMITTED;
    if (link->producers_created >= kMaxProducers) return DOCA_ERROR_NO_MEMORY;
    id = ++link->last_producer & 0xffffff;
  }
  const auto created = std::make_shared<Producer>(std::move(kept), dev, id);
  if (!created->hold()) return DOCA_ERROR_INVALID_VALUE;
  *producer = publish_as<ProducerPool>(created);
  return DOCA_SUCCESS;
}

Producer::Producer(std::shared_ptr<Link> link, doca_dev* dev, std::uint32_t id) : TaskPath(std::move(link), dev, id) {
  const std::lock_guard guard(link_->mutex);
  ++link_->producers_created;
}

Producer::~Producer() {
  const std::lock_guard guard(link_->mutex);
  --link_->producers_created;
}

doca_error_t Producer::open_all() {
  doca_error_t error = open_queue(task_count_);
  if (error == DOCA_SUCCESS) {
    tasks_.open(this, task_count_);
    const std::lock_guard guard(link_->mutex);
    if (!link_->peer || link_->peer->lost) {
      error = DOCA_ERROR_NOT_CONNECTED;
    } else {
      link_->producers.push_back(this);
    }
  }
  return error;
}

void Producer::shut() {
  close_queue();
  tasks_.close();
}

void Producer::begin_close() {
  const doca_error_t status = ended_ ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_BAD_STATE;
  while (fetch()) complete(batch_[batch_next_++]);
  while (!pairs_.empty()) drop(*pairs_.back(), status);
  const std::lock_guard guard(link_->mutex);
  std::erase(link_->producers, this);
}

doca_error_t Producer::allocate(const doca_buf* buf, const std::uint8_t* immediate, std::uint32_t immediate_length,
                                std::uint32_t consumer, doca_comch_producer_task_send** task) {
  if ((buf && !find_buf(buf)) || immediate_length > kMaxImmediate || (immediate_length > 0 && !immediate)) {
    return DOCA_ERROR_INVALID_VALUE;
  }
  if (!running()) return DOCA_ERROR_BAD_STATE;
  doca_comch_producer_task_send* taken = tasks_.take();
  if (!taken) return DOCA_ERROR_NO_MEMORY;
  taken->buf = buf;
  taken->consumer = consumer;
  taken->immediate_length = immediate_length;
  if (immediate_length > 0) std::memcpy(taken->immediate, immediate, immediate_length);
  *task = taken;
  return DOCA_SUCCESS;
}

Producer::Pair* Producer::find(std::uint32_t consumer) const {
  for (const auto& pair : pairs_) {
    if (pair->consumer == consumer) return pair.get();
  }
  return nullptr;
}

doca_error_t Producer::create_queue_pair(Pair& pair) {
  pair.serial = ++last_serial_;
  pair.phase = Phase::kAsked;
  pair.completed = pair.delivered = 0;
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_;
  init.sq_sig_all = 1;
  init.cap = {.max_send_wr = std::min(task_count_, kConsumerQueue),
              .max_recv_wr = 1,
              .max_send_sge = 2,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  int error = create_reliable(dev_->pd, init, &pair.qp);
  if (error == 0) error = random_psn(&pair.own.psn);
  if (error != 0) {
    if (pair.qp) Verbs::get()->destroy_qp(std::exchange(pair.qp, nullptr));
    return error_of(error, DOCA_ERROR_INITIALIZATION);
  }
  pair.own.data_qpn = pair.qp->qp_num;
  pair.own.mtu = link_->peer->connection->own().mtu;
  send_request(pair, now());
  return DOCA_SUCCESS;
}

void Producer::send_request(Pair& pair, Nanos time) {
  pair.asked_at = time;
  HandshakeMessage about;
  about.producer = id();
  about.consumer = pair.consumer;
  link_->send(HandshakeMessage::Type::kPair, pair.own, about);
}

// INVALID_VALUE for a consumer that the other end has not announced.
doca_error_t Producer::ask(std::uint32_t consumer, Pair** pair) {
  auto created = std::make_unique<Pair>();
  created->consumer = consumer;
  const std::lock_guard guard(link_->mutex);
  if (!link_->peer || !link_->knows(consumer)) return DOCA_ERROR_INVALID_VALUE;
  pairs_.reserve(pairs_.size() + 1);
  if (const doca_error_t error = create_queue_pair(*created)) return error;
  *pair = pairs_.emplace_back(std::move(created)).get();
  // The timer repeats the request.
  link_->control->device()->handshakes->wake();
  return DOCA_SUCCESS;
}

doca_error_t Producer::submit(doca_task& submitted) {
  if (!running()) return DOCA_ERROR_BAD_STATE;
  auto& task = static_cast<doca_comch_producer_task_send&>(submitted);
  const doca_buf* buf = task.buf;
  if (buf ? !find_buf(buf) || !buf->alone() || !buf->mmap->region(dev_) || buf->data_length > kMaxBufferSize
          : task.immediate_length == 0) {
    return DOCA_ERROR_INVALID_VALUE;
  }
  if (buf && buf->references == UINT16_MAX) return DOCA_ERROR_TOO_BIG;
  Pair* pair = find(task.consumer);
  if (!pair) {
    if (const doca_error_t error = ask(task.consumer, &pair)) return error;
  }
  if (pair->waiting.count() + pair->sent.count() >= std::min(task_count_, kConsumerQueue)) return DOCA_ERROR_AGAIN;
  if (buf) ++const_cast<doca_buf*>(buf)->references;
  task.owner = doca_task::Owner::kLibrary;
  ++in_flight_;
  if (pair->phase == Phase::kReady && pair->waiting.empty()) {
    post(*pair, task);
  } else {
    pair->waiting.push(&task);
    if (pair->phase != Phase::kAsked) changed_ = true;
  }
  return DOCA_SUCCESS;
}

void Producer::post(Pair& pair, doca_comch_producer_task_send& task) {
  if (task.immediate_length > pair.limit) return done(&task, DOCA_ERROR_INVALID_VALUE);
  const std::size_t index = tasks_.index_of(task);
  FastHeader& header = *this->header(index);
  const auto length = task.buf ? static_cast<std::uint32_t>(task.buf->data_length) : 0;
  header.producer = id();
  header.immediate_length = task.immediate_length;
  header.length = length;
  if (task.immediate_length > 0) std::memcpy(header.immediate, task.immediate, task.immediate_length);
  ibv_sge sges[2] = {header_sge(index)};
  if (length > 0) {
    sges[1] = {reinterpret_cast<std::uintptr_t>(task.buf->data), length, task.buf->mmap->region(dev_)->lkey};
  }
  ibv_send_wr request{};
  request.wr_id = static_cast<std::uint64_t>(pair.serial) << 32 | index;
  request.sg_list = sges;
  request.num_sge = length > 0 ? 2 : 1;
  request.opcode = IBV_WR_SEND;
  if (const int error = Verbs::post_send(pair.qp, &request)) {
    return done(&task, error_of(error, DOCA_ERROR_IO_FAILED));
  }
  pair.sent.push(&task);
}

// Under the mutex, by another thread: the consumer's end has answered.
void Producer::on_answer(const HandshakeMessage& message) {
  Pair* pair = find(message.consumer);
  if (!pair || pair->phase != Phase::kAsked) return;
  if (message.type == HandshakeMessage::Type::kUnpaired) {
    pair->phase = Phase::kGone;
  } else {
    pair->limit = message.limit;
    const int error = connect_reliable(pair->qp, {.gid = link_->peer->remote.gid,
                                                  .qpn = message.end.data_qpn,
                                                  .own_psn = pair->own.psn,
                                                  .psn = message.end.psn,
                                                  .mtu = std::min(pair->own.mtu, message.end.mtu)});
    pair->phase = error == 0 ? Phase::kReady : Phase::kGone;
  }
  changed_ = true;
  notify();
}

void Producer::on_expired(std::uint32_t consumer) {
  Pair* pair = find(consumer);
  if (!pair) return;
  pair->phase = Phase::kGone;
  changed_ = true;
  notify();
}

void Producer::on_delivered(std::uint32_t consumer, const Delivery& delivery) {
  Pair* pair = find(consumer);
  if (pair && pair->own.data_qpn == delivery.qpn) pair->delivered = delivery.count;
}

Nanos Producer::on_timer(Nanos time) {
  Nanos next = kNever;
  for (const auto& pair : pairs_) {
    if (pair->phase != Phase::kAsked) continue;
    if (time - pair->asked_at >= kAskInterval) send_request(*pair, time);
    next = std::min(next, pair->asked_at + kAskInterval);
  }
  return next;
}

void Producer::step() {
  for (std::size_t i = pairs_.size(); i-- > 0;) {
    Pair& pair = *pairs_[i];
    if (pair.phase == Phase::kGone) {
      drop(pair, DOCA_ERROR_CONNECTION_RESET);
    } else if (pair.phase == Phase::kReady) {
      while (!pair.waiting.empty()) post(pair, static_cast<doca_comch_producer_task_send&>(*pair.waiting.pop()));
    }
  }
}

// A send completes in its turn.
void Producer::complete(const ibv_wc& completion) {
  const auto serial = static_cast<std::uint32_t>(completion.wr_id >> 32);
  const auto found =
      std::find_if(pairs_.begin(), pairs_.end(), [serial](const auto& pair) { return pair->serial == serial; });
  if (found == pairs_.end() || (*found)->sent.empty()) return;
  Pair& pair = **found;
  if (completion.status == IBV_WC_SUCCESS) {
    ++pair.completed;
    return done(pair.sent.pop(), DOCA_SUCCESS);
  }
  const doca_error_t status = status_of(completion.status);
  done(pair.sent.pop(), status);
  if (status != DOCA_ERROR_TOO_BIG) return drop(pair, DOCA_ERROR_CONNECTION_RESET);
  // Only that message was refused, and none behind it was received: they go another way.
  TaskList rest = std::exchange(pair.sent, {});
  while (!pair.waiting.empty()) rest.push(pair.waiting.pop());
  pair.waiting = rest;
  const std::lock_guard guard(link_->mutex);
  Verbs::get()->destroy_qp(std::exchange(pair.qp, nullptr));
  pair.own = {};
  if (!link_->peer || create_queue_pair(pair) != DOCA_SUCCESS) {
    pair.phase = Phase::kGone;
    changed_ = true;
  }
}

void Producer::drop(Pair& pair, doca_error_t status) {
  const std::uint32_t arrived = pair.delivered - pair.completed;
  if (arrived <= pair.sent.count()) {
    for (std::uint32_t i = 0; i < arrived; ++i) done(pair.sent.pop(), DOCA_SUCCESS);
  }
  while (!pair.sent.empty()) done(pair.sent.pop(), status);
  while (!pair.waiting.empty()) done(pair.waiting.pop(), status);
  const std::lock_guard guard(link_->mutex);
  if (pair.qp) {
    HandshakeMessage about;
    about.producer = id();
    about.consumer = pair.consumer;
    link_->send(HandshakeMessage::Type::kUnpair, pair.own, about);
    Verbs::get()->destroy_qp(pair.qp);
  }
  std::erase_if(pairs_, [&](const auto& each) { return each.get() == &pair; });
}

bool Producer::progress() {
  if (running() && ended_) {
    begin_stop();
    return true;
  }
  if (running()) {
    if (changed_.exchange(false)) {
      // A queue pair that is dropped takes its acknowledgements with it.
      while (fetch()) complete(batch_[batch_next_++]);
      step();
    }
    if (fetch()) {
      while (batch_next_ < batch_size_) complete(batch_[batch_next_++]);
    }
  }
  bool some = run_done();
  if (state() == DOCA_CTX_STATE_STOPPING) some |= finish_stop();
  return some;
}

}  // namespace verbs::doca_comm::model::comch
