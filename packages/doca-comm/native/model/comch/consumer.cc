#include "model/comch/consumer.h"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include "model/base/boundary.h"
#include "model/base/error.h"
#include "model/comch/control.h"
#include "model/nic/reliable.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model::comch {

namespace {

using ConsumerPool = HandlePool<doca_comch_consumer, Consumer>;

// Queue pairs of a consumer, with those of producers that have gone.
constexpr std::size_t kMostPairs = 4 * kMaxProducers;

}  // namespace

Consumer* find_consumer(const doca_comch_consumer* handle) { return ConsumerPool::get().find(handle); }

doca_error_t destroy_consumer(doca_comch_consumer* handle) {
  Consumer* consumer = find_consumer(handle);
  if (!consumer) return DOCA_ERROR_INVALID_VALUE;
  if (!consumer->idle()) return DOCA_ERROR_IN_USE;
  model::retire(*consumer);
  ConsumerPool::get().remove(handle);
  return DOCA_SUCCESS;
}

doca_error_t Consumer::create(doca_comch_connection* connection, doca_mmap* mmap, doca_comch_consumer** consumer) {
  Link* link = find_link(connection);
  const Mmap* memory = find_mmap(mmap);
  if (!link || !memory) return DOCA_ERROR_INVALID_VALUE;
  doca_dev* dev = link->control->device();
  // Decided here: the memory must be started, writable, and registered with the device of the connection.
  if (!memory->started() || !memory->writable() || !memory->region(dev)) return DOCA_ERROR_INVALID_VALUE;
  if (const int error = Faults::get().next(Fault::kAllocate)) return error_of(error, DOCA_ERROR_NO_MEMORY);
  std::shared_ptr<Link> kept = connection->object;
  std::uint32_t id = 0;
  {
    const std::lock_guard guard(link->mutex);
    if (!link->peer || link->peer->lost || link->peer->connection->peer_disconnected()) return DOCA_ERROR_BAD_STATE;
    if (!link->peer->connection->has_fast_path()) return DOCA_ERROR_NOT_PERMITTED;
    if (link->consumers_created >= kMaxConsumers) return DOCA_ERROR_NO_MEMORY;
    id = ++link->last_consumer & 0xffffff;
  }
  const auto created = std::make_shared<Consumer>(std::move(kept), dev, id, mmap->object);
  if (!created->hold()) return DOCA_ERROR_INVALID_VALUE;
  *consumer = publish_as<ConsumerPool>(created);
  return DOCA_SUCCESS;
}

Consumer::Consumer(std::shared_ptr<Link> link, doca_dev* dev, std::uint32_t id, std::shared_ptr<Mmap> mmap)
    : TaskPath(std::move(link), dev, id), mmap_(std::move(mmap)) {
  ++mmap_->contexts;
  const std::lock_guard guard(link_->mutex);
  ++link_->consumers_created;
}

Consumer::~Consumer() {
  --mmap_->contexts;
  const std::lock_guard guard(link_->mutex);
  --link_->consumers_created;
}

doca_error_t Consumer::set_immediate_length(std::uint32_t length) {
  if (length > kMaxImmediate) return DOCA_ERROR_INVALID_VALUE;
  if (!idle()) return DOCA_ERROR_BAD_STATE;
  immediate_length_ = length;
  return DOCA_SUCCESS;
}

doca_error_t Consumer::open_all() {
  doca_error_t error = open_queue(task_count_);
  if (error == DOCA_SUCCESS) {
    ibv_srq_init_attr init{};
    init.attr = {.max_wr = task_count_, .max_sge = 2, .srq_limit = 0};
    srq_ = Verbs::get()->create_srq(dev_->pd, &init);
    if (!srq_) error = error_of(errno, DOCA_ERROR_INITIALIZATION);
  }
  if (error == DOCA_SUCCESS) {
    tasks_.open(this, task_count_);
    posted_.assign(task_count_, false);
    counts_.clear();
    counts_.reserve(kMostPairs);
    const std::lock_guard guard(link_->mutex);
    // Decided here: on a connection that has ended it does not start.
    if (!link_->peer || link_->peer->lost) {
      error = DOCA_ERROR_NOT_CONNECTED;
    } else {
      link_->consumers.push_back(this);
      link_->announce(FrameKind::kConsumer, id());
    }
  }
  return error;
}

void Consumer::shut() {
  {
    const std::lock_guard guard(link_->mutex);
    for (const Pair& pair : pairs_) retired_.push_back(pair.qp);
    pairs_.clear();
    retired_.insert(retired_.end(), dying_.begin(), dying_.end());
    dying_.clear();
    for (ibv_qp* qp : retired_) Verbs::get()->destroy_qp(qp);
    retired_.clear();
  }
  if (srq_) Verbs::get()->destroy_srq(std::exchange(srq_, nullptr));
  close_queue();
  tasks_.close();
}

// What was received before is the program's still. Everything else it has posted comes back with an error.
void Consumer::begin_close() {
  while (fetch()) complete(batch_[batch_next_++]);
  const doca_error_t status = ended_ ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_BAD_STATE;
  {
    const std::lock_guard guard(link_->mutex);
    std::erase(link_->consumers, this);
    for (const Pair& pair : pairs_) {
      const std::uint32_t messages = counted(pair.qp->qp_num);
      if (messages > 0) link_->announce(id(), {pair.producer, pair.remote_qpn, messages});
    }
    link_->announce(FrameKind::kConsumerExpired, id());
    for (const Pair& pair : pairs_) retired_.push_back(pair.qp);
    pairs_.clear();
    for (ibv_qp* qp : retired_) Verbs::get()->destroy_qp(qp);
    for (ibv_qp* qp : dying_) Verbs::get()->destroy_qp(qp);
    retired_.clear();
    dying_.clear();
  }
  for (std::size_t i = 0; i < posted_.size(); ++i) {
    if (posted_[i]) done(tasks_.at(i), status);
    posted_[i] = false;
  }
}

doca_error_t Consumer::allocate(doca_buf* buf, doca_comch_consumer_task_post_recv** task) {
  if (buf && !find_buf(buf)) return DOCA_ERROR_INVALID_VALUE;
  if (!running()) return DOCA_ERROR_BAD_STATE;
  doca_comch_consumer_task_post_recv* taken = tasks_.take();
  if (!taken) return DOCA_ERROR_NO_MEMORY;
  taken->buf = buf;
  taken->producer = taken->immediate_length = 0;
  taken->immediate = nullptr;
  *task = taken;
  return DOCA_SUCCESS;
}

// Decided here: data goes to where the buffer's data begins, and replaces what was there. Without a buffer a task
// receives immediate data only.
int Consumer::post(doca_comch_consumer_task_post_recv& task) {
  const std::size_t index = tasks_.index_of(task);
  ibv_sge sges[2] = {header_sge(index)};
  ibv_recv_wr request{};
  request.wr_id = index;
  request.sg_list = sges;
  request.num_sge = 1;
  if (task.buf) {
    const std::size_t space = static_cast<std::size_t>(task.buf->head + task.buf->length - task.buf->data);
    sges[1] = {reinterpret_cast<std::uintptr_t>(task.buf->data),
               static_cast<std::uint32_t>(std::min<std::size_t>(space, kMaxBufferSize)), mmap_->region(dev_)->lkey};
    request.num_sge = space > 0 ? 2 : 1;
  }
  return Verbs::post_srq_recv(srq_, &request);
}

doca_error_t Consumer::submit(doca_task& submitted) {
  if (!running()) return DOCA_ERROR_BAD_STATE;
  auto& task = static_cast<doca_comch_consumer_task_post_recv&>(submitted);
  if (task.buf && (!find_buf(task.buf) || !task.buf->alone() || task.buf->mmap != mmap_))
    return DOCA_ERROR_INVALID_VALUE;
  if (task.buf && task.buf->references == UINT16_MAX) return DOCA_ERROR_TOO_BIG;
  task.producer = task.immediate_length = 0;
  task.immediate = nullptr;
  if (const int error = post(task)) return error_of(error, DOCA_ERROR_IO_FAILED);
  if (task.buf) ++task.buf->references;
  task.owner = doca_task::Owner::kLibrary;
  posted_[tasks_.index_of(task)] = true;
  ++in_flight_;
  return DOCA_SUCCESS;
}

// The header was written by the peer.
void Consumer::complete(const ibv_wc& completion) {
  if (completion.wr_id >= posted_.size() || !posted_[completion.wr_id]) return;
  doca_comch_consumer_task_post_recv& task = *tasks_.at(completion.wr_id);
  // A producer has gone in the middle of its message: the buffer is for the next one.
  if (completion.status == IBV_WC_WR_FLUSH_ERR && running() && post(task) == 0) return;
  posted_[completion.wr_id] = false;
  const FastHeader header = *this->header(completion.wr_id);
  doca_error_t status = DOCA_ERROR_IO_FAILED;
  if (completion.status == IBV_WC_LOC_LEN_ERR) status = DOCA_ERROR_TOO_BIG;
  if (completion.status == IBV_WC_SUCCESS && completion.byte_len >= sizeof header &&
      header.length == completion.byte_len - sizeof header && header.immediate_length <= immediate_length_) {
    status = DOCA_SUCCESS;
    count(completion.qp_num);
    task.producer = header.producer;
    task.immediate_length = header.immediate_length;
    task.immediate = header.immediate_length > 0 ? this->header(completion.wr_id)->immediate : nullptr;
    if (task.buf) task.buf->data_length = header.length;
  }
  done(&task, status);
}

void Consumer::count(std::uint32_t qpn) {
  for (Count& each : counts_) {
    if (each.qpn == qpn) {
      ++each.messages;
      return;
    }
  }
  if (counts_.size() == kMostPairs) counts_.erase(counts_.begin());
  counts_.push_back({qpn, 1});
}

std::uint32_t Consumer::counted(std::uint32_t qpn) const {
  for (const Count& each : counts_) {
    if (each.qpn == qpn) return each.messages;
  }
  return 0;
}

bool Consumer::progress() {
  if (running() && ended_) {
    begin_stop();
    return true;
  }
  if (running()) {
    if (fetch()) {
      while (batch_next_ < batch_size_) complete(batch_[batch_next_++]);
    } else if (reap_) {
      reap();
    }
  }
  bool some = run_done();
  if (state() == DOCA_CTX_STATE_STOPPING) some |= finish_stop();
  return some;
}

bool Consumer::pair(const HandshakeMessage& request) {
  const auto answer = [&](const Pair& pair) {
    HandshakeMessage about = request;
    about.limit = immediate_length_;
    link_->send(HandshakeMessage::Type::kPaired, pair.own, about);
    return true;
  };
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (pairs_[i].producer != request.producer) continue;
    if (pairs_[i].remote_qpn == request.end.data_qpn) return answer(pairs_[i]);
    retire(pairs_[i]);
    pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  if (pairs_.size() >= kMaxProducers || pairs_.size() + retired_.size() + dying_.size() >= kMostPairs) return false;
  pairs_.reserve(pairs_.size() + 1);
  retired_.reserve(kMostPairs);
  dying_.reserve(kMostPairs);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_;
  init.srq = srq_;
  init.cap = {.max_send_wr = 1, .max_recv_wr = 0, .max_send_sge = 1, .max_recv_sge = 0, .max_inline_data = 0};
  Pair created{.producer = request.producer, .remote_qpn = request.end.data_qpn, .qp = nullptr, .own = {}};
  int error = create_reliable(dev_->pd, init, &created.qp);
  if (error == 0) error = random_psn(&created.own.psn);
  if (error == 0) {
    created.own.data_qpn = created.qp->qp_num;
    created.own.mtu = std::min(link_->peer->connection->own().mtu, request.end.mtu);
    error = connect_reliable(created.qp, {.gid = link_->peer->remote.gid,
                                          .qpn = request.end.data_qpn,
                                          .own_psn = created.own.psn,
                                          .psn = request.end.psn,
                                          .mtu = created.own.mtu});
  }
  if (error != 0) {
    if (created.qp) Verbs::get()->destroy_qp(created.qp);
    return false;
  }
  pairs_.push_back(created);
  return answer(created);
}

void Consumer::unpair(const HandshakeMessage& request) {
  const auto found = std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
    return pair.producer == request.producer && pair.remote_qpn == request.end.data_qpn;
  });
  if (found == pairs_.end()) return;
  retire(*found);
  pairs_.erase(found);
}

// In the error state a receive that has begun is completed.
void Consumer::retire(const Pair& pair) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  Verbs::get()->modify_qp(pair.qp, &attr, IBV_QP_STATE);
  retired_.push_back(pair.qp);
  reap_ = true;
  notify();
}

// The completion queue was found empty since the dying ones were retired.
void Consumer::reap() {
  const std::lock_guard guard(link_->mutex);
  for (ibv_qp* qp : dying_) Verbs::get()->destroy_qp(qp);
  dying_.clear();
  dying_.swap(retired_);
  reap_ = !dying_.empty();
}

}  // namespace verbs::doca_comm::model::comch
