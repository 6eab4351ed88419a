#include "model/comch/control.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "model/engine/engine.h"

// The events that callbacks get. Programs only pass them on.
struct doca_comch_event_msg_recv {};
struct doca_comch_event_consumer {};

namespace verbs::doca_comm::model::comch {

namespace {

// Messages that are delivered by one call of progress().
constexpr int kMostDelivered = 16;
// Frames in flight on one connection. Tasks beyond it wait, and their messages are not copied yet.
constexpr std::uint32_t kMostSent = 64;

}  // namespace

Control::~Control() {
  if (held_) Bluefield::get().release(dev_);
}

doca_error_t Control::set_message_size(std::uint32_t size) {
  if (!idle()) return DOCA_ERROR_BAD_STATE;
  if (size == 0 || size > kMaxMessageSize) return DOCA_ERROR_INVALID_VALUE;
  sizes_.message = static_cast<std::uint16_t>(size);
  return DOCA_SUCCESS;
}

doca_error_t Control::set_receive_queue(std::uint32_t size) {
  if (!idle()) return DOCA_ERROR_BAD_STATE;
  if (size == 0 || size > kMaxReceiveQueue) return DOCA_ERROR_INVALID_VALUE;
  sizes_.recv_queue = static_cast<std::uint16_t>(size);
  return DOCA_SUCCESS;
}

doca_error_t Control::configure_send(doca_comch_task_send_completion_cb_t completed,
                                     doca_comch_task_send_completion_cb_t failed, std::uint32_t tasks) {
  if (!completed || !failed || tasks == 0 || tasks > kMaxSendTasks) return DOCA_ERROR_INVALID_VALUE;
  if (!idle()) return DOCA_ERROR_BAD_STATE;
  send_completed_ = completed;
  send_failed_ = failed;
  send_tasks_ = tasks;
  sizes_.send_queue = static_cast<std::uint16_t>(std::min(tasks, kMostSent));
  return DOCA_SUCCESS;
}

doca_error_t Control::on_message(doca_comch_event_msg_recv_cb_t callback) {
  if (!callback) return DOCA_ERROR_INVALID_VALUE;
  if (!idle()) return DOCA_ERROR_BAD_STATE;
  message_ = callback;
  return DOCA_SUCCESS;
}

doca_error_t Control::on_consumer(doca_comch_event_consumer_cb_t created, doca_comch_event_consumer_cb_t expired) {
  if (!created || !expired) return DOCA_ERROR_INVALID_VALUE;
  if (!idle()) return DOCA_ERROR_BAD_STATE;
  consumer_created_ = created;
  consumer_expired_ = expired;
  return DOCA_SUCCESS;
}

// Decided here: without a configuration of its tasks a context does not start.
doca_error_t Control::prepare() {
  if (send_tasks_ == 0) return DOCA_ERROR_BAD_STATE;
  buffer_.resize(sizes_.message);
  return DOCA_SUCCESS;
}

doca_error_t Control::opened() {
  tasks_.open(this, send_tasks_);
  return DOCA_SUCCESS;
}

std::shared_ptr<Link> Control::make_link(std::shared_ptr<void> anchor) {
  auto link = std::make_shared<Link>(*transport(), std::move(anchor));
  links_.reserve(links_.size() + 1);
  busy_.reserve(links_.size() + 1);
  publish(link);
  return link;
}

void Control::add_link(const std::shared_ptr<Link>& link, Peer& peer) {
  link->control = this;
  link->peer = &peer;
  peer.owner = link.get();
  links_.push_back(link);
}

void Control::remove_link(Link& link) {
  link.end();
  if (link.peer) link.peer->owner = nullptr;
  link.peer = nullptr;
  link.control = nullptr;
  comch::retire(link);
  std::erase(busy_, &link);
  std::erase_if(links_, [&](const auto& each) { return each.get() == &link; });
}

doca_error_t Control::allocate_send(doca_comch_connection* connection, const void* message, std::uint32_t length,
                                    doca_comch_task_send** task) {
  const Link* link = find_link(connection);
  if (!link || link->control != this || length > sizes_.message) return DOCA_ERROR_INVALID_VALUE;
  if (!running()) return DOCA_ERROR_BAD_STATE;
  doca_comch_task_send* taken = tasks_.take();
  if (!taken) return DOCA_ERROR_NO_MEMORY;
  taken->connection = connection;
  taken->message = message;
  taken->length = length;
  *task = taken;
  return DOCA_SUCCESS;
}

doca_error_t Control::submit(doca_task& submitted) {
  if (!running()) return DOCA_ERROR_BAD_STATE;
  auto& task = static_cast<doca_comch_task_send&>(submitted);
  Link* link = find_link(task.connection);
  // Its structure may be another one's connection by now.
  if (!link || link->control != this) return DOCA_ERROR_NOT_CONNECTED;
  if (link->waiting.count() + link->sent.count() >= kConnectionQueue) return DOCA_ERROR_AGAIN;
  const std::lock_guard guard(transport()->mutex());
  want_progress(*link);
  task.owner = doca_task::Owner::kLibrary;
  ++in_flight_;
  link->waiting.push(&task);
  if (link->waiting.count() == 1) collect(*link);
  return DOCA_SUCCESS;
}

void Control::want_progress(Link& link) {
  if (!std::exchange(link.busy, true)) busy_.push_back(&link);
}

void Control::free(doca_task& task) { tasks_.give(&task); }

void Control::done(doca_task* task, doca_error_t status) {
  task->status = status;
  done_.push(task);
}

void Control::fail(Link& link, doca_error_t error) {
  while (!link.sent.empty()) done(link.sent.pop(), error);
  while (!link.waiting.empty()) done(link.waiting.pop(), error);
}

// Moves the tasks of a link on. True if some are done.
bool Control::collect(Link& link) {
  const std::size_t before = done_.count();
  const Connection& connection = *link.peer->connection;
  while (!link.sent.empty() && static_cast<doca_comch_task_send*>(link.sent.first())->number <= connection.arrived()) {
    done(link.sent.pop(), DOCA_SUCCESS);
  }
  while (!link.waiting.empty()) {
    auto& task = static_cast<doca_comch_task_send&>(*link.waiting.first());
    const doca_error_t error = transport()->send(*link.peer, task.message, task.length);
    if (error == DOCA_ERROR_AGAIN) break;
    link.waiting.pop();
    task.number = connection.posted();
    if (error == DOCA_SUCCESS) {
      link.sent.push(&task);
    } else {
      done(&task, error);
    }
  }
  if (link.peer->lost || connection.peer_disconnected()) {
    while (!link.sent.empty()) done(link.sent.pop(), DOCA_ERROR_CONNECTION_RESET);
  }
  return done_.count() != before;
}

// Whether collect() would do something.
bool Control::collectable(const Link& link) const {
  const Connection& connection = *link.peer->connection;
  if (link.peer->lost || connection.peer_disconnected()) return true;
  if (!link.sent.empty() &&
      static_cast<const doca_comch_task_send*>(link.sent.first())->number <= connection.arrived()) {
    return true;
  }
  const bool waits = !link.waiting.empty() || !link.announcements.empty();
  return waits && connection.has_slot() && connection.has_credit();
}

bool Control::complete_sends() {
  bool some = false;
  {
    const std::lock_guard guard(transport()->mutex());
    transport()->poll_sends();
    for (Link* link : busy_) {
      const std::size_t waited = link->waiting.count();
      some |= collect(*link) || link->waiting.count() != waited;
      some |= link->flush_announcements();
    }
    std::erase_if(busy_, [](Link* link) {
      link->busy = !link->waiting.empty() || !link->sent.empty() || !link->announcements.empty();
      return !link->busy;
    });
  }
  return run_done() || some;
}

// A callback may submit its task again: that one is not called by this.
bool Control::run_done() {
  const std::size_t count = done_.count();
  for (std::size_t i = 0; i < count; ++i) {
    auto* task = static_cast<doca_comch_task_send*>(done_.pop());
    task->owner = doca_task::Owner::kProgram;
    --in_flight_;
    (task->status == DOCA_SUCCESS ? send_completed_ : send_failed_)(task, task->user_data, user_data());
  }
  return count > 0;
}

bool Control::deliver() {
  bool some = false;
  for (int i = 0; i < kMostDelivered && running(); ++i) {
    Peer* peer = nullptr;
    Connection::Message found;
    std::shared_ptr<Link> link;
    Transport::Next next;
    bool announced = false;
    {
      const std::lock_guard guard(transport()->mutex());
      next = transport()->next(&peer, &found);
      if (next == Transport::Next::kNone || next == Transport::Next::kFailed) break;
      auto* owner = static_cast<Link*>(peer->owner);
      if (next == Transport::Next::kMessage) {
        // Copied: the connection may be gone before the callback ends.
        std::memcpy(buffer_.data(), found.data, std::min(found.size, buffer_.size()));
        transport()->take(*peer, found);
      } else {
        collect(*owner);
        fail(*owner, DOCA_ERROR_CONNECTION_RESET);
      }
      link = owner->handle->object;
      const bool announcement = next == Transport::Next::kMessage && found.kind != FrameKind::kData;
      announced = announcement && link->on_announcement(found);
      if (announcement && !announced) continue;
    }
    some = true;
    if (next == Transport::Next::kLoss) {
      run_done();
      // A callback may have stopped the context, or disconnected the peer.
      if (running() && link->control) on_loss(link);
    } else if (announced) {
      doca_comch_event_consumer event;
      const auto callback = found.kind == FrameKind::kConsumer ? consumer_created_ : consumer_expired_;
      if (callback) callback(&event, link->handle, found.consumer);
    } else if (message_) {
      doca_comch_event_msg_recv event;
      message_(&event, buffer_.data(), static_cast<std::uint32_t>(found.size), link->handle);
    }
  }
  return some;
}

bool Control::progress() {
  bool some = step();
  if (running()) some |= complete_sends();
  if (running()) some |= deliver();
  if (state() == DOCA_CTX_STATE_STOPPING) {
    some |= run_done();
    some |= finish_stop();
  }
  return some;
}

void Control::arm() {
  Transport* on = transport();
  if (!on) return;
  const std::lock_guard guard(on->mutex());
  on->arm();
  const bool ready = !done_.empty() || has_step() ||
                     std::any_of(busy_.begin(), busy_.end(), [this](const Link* link) { return collectable(*link); });
  if (ready) on->notify_recv();
}

void Control::disarm() {
  Transport* on = transport();
  if (!on) return;
  const std::lock_guard guard(on->mutex());
  on->disarm();
}

// Decided here, as for a disconnect: the producers and consumers are stopped first.
doca_error_t Control::may_stop() {
  const std::lock_guard guard(transport()->mutex());
  const bool active = std::any_of(links_.begin(), links_.end(), [](const auto& link) { return link->has_active(); });
  return active ? DOCA_ERROR_IN_USE : DOCA_SUCCESS;
}

void Control::begin_close() {
  const std::lock_guard guard(transport()->mutex());
  for (const auto& link : links_) {
    fail(*link, DOCA_ERROR_BAD_STATE);
    link->end();
    link->announcements.clear();
    // drain() releases the peer; the program has the connection until the context is idle.
    link->peer->owner = nullptr;
    link->peer = nullptr;
  }
  leave();
}

bool Control::finish_close() {
  if (!done_.empty() || tasks_.taken() > 0) return false;
  {
    const std::lock_guard guard(transport()->mutex());
    if (!left()) return false;
    while (!links_.empty()) remove_link(*links_.back());
  }
  shut();
  tasks_.close();
  return true;
}

doca_error_t Control::update(Link& link) {
  const std::lock_guard guard(transport()->mutex());
  if (!link.peer) return DOCA_ERROR_CONNECTION_ABORTED;
  const doca_error_t error = transport()->update(*link.peer);
  link.updated = link.peer->updated;
  return error;
}

}  // namespace verbs::doca_comm::model::comch
