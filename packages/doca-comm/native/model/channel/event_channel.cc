#include "model/channel/event_channel.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

int EventChannel::open(ibv_context* context) {
  if (const int error = Faults::get().next(Fault::kDescriptor)) return error;
  fd_ = epoll_create1(EPOLL_CLOEXEC);
  bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd_ < 0 || bell_ < 0) return errno;
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (epoll_ctl(fd_, EPOLL_CTL_ADD, bell_, &event) != 0) return errno;
  if (!context) return 0;
  channel_ = Verbs::get()->create_comp_channel(context);
  if (!channel_) return errno;
  if (fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK) != 0) return errno;
  return epoll_ctl(fd_, EPOLL_CTL_ADD, channel_->fd, &event) == 0 ? 0 : errno;
}

void EventChannel::close() {
  if (channel_) Verbs::get()->destroy_comp_channel(std::exchange(channel_, nullptr));
  if (bell_ >= 0) ::close(std::exchange(bell_, -1));
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void EventChannel::clear() {
  if (!signaled_) return;
  eventfd_t rung = 0;
  eventfd_read(bell_, &rung);
  signaled_ = false;
}

void EventChannel::signal() {
  if (bell_ < 0 || signaled_) return;
  signaled_ = eventfd_write(bell_, 1) == 0;
}

void CompletionQueues::open(ibv_context* context, ibv_comp_channel* channel) {
  context_ = context;
  channel_ = channel;
}

void CompletionQueues::close() {
  for (const Queue& queue : queues_) Verbs::get()->destroy_cq(queue.cq);
  queues_.clear();
  turn_ = armed_ = 0;
  wanted_ = quiet_ = false;
}

ibv_cq* CompletionQueues::reserve(int entries) {
  int all = 0;
  for (Queue& queue : queues_) {
    all += queue.size;
    if (queue.size - queue.reserved < entries) continue;
    queue.reserved += entries;
    return queue.cq;
  }
  constexpr int kFirst = 512;
  const int size = std::max({kFirst, entries, all});
  ibv_cq* cq = Verbs::get()->create_cq(context_, size, channel_);
  // The device may not have one that large.
  const bool smaller = !cq && errno == EINVAL && size > entries;
  if (smaller) cq = Verbs::get()->create_cq(context_, entries, channel_);
  if (!cq) return nullptr;
  queues_.push_back({.cq = cq, .size = smaller ? entries : size, .reserved = entries});
  if (wanted_) arm();
  return cq;
}

void CompletionQueues::release(ibv_cq* cq, int entries) {
  for (Queue& queue : queues_) {
    if (queue.cq == cq) queue.leaving += entries;
  }
  quiet_ = false;
}

int CompletionQueues::poll(ibv_wc* completions, int count) {
  quiet_ = false;
  // Each has its turn: one that never becomes empty holds up none of the others.
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    Queue& queue = queues_[turn_++ % queues_.size()];
    const int found = Verbs::poll(queue.cq, count, completions);
    if (found != 0) return found;
    queue.reserved -= queue.leaving;
    queue.leaving = 0;
  }
  quiet_ = wanted_ && armed_ == queues_.size();
  return 0;
}

std::uint64_t CompletionQueues::backlog(int count) const {
  int largest = 0;
  for (const Queue& queue : queues_) largest = std::max(largest, queue.size);
  return queues_.size() * static_cast<std::uint64_t>(largest + count);
}

void CompletionQueues::arm() {
  wanted_ = true;
  for (Queue& queue : queues_) {
    if (queue.armed || ibv_req_notify_cq(queue.cq, 0) != 0) continue;
    queue.armed = true;
    ++armed_;
    quiet_ = false;
  }
}

bool CompletionQueues::take_events() {
  const Verbs* verbs = Verbs::get();
  bool some = false;
  while (armed_ > 0) {
    ibv_cq* cq = nullptr;
    void* owner = nullptr;
    if (verbs->get_cq_event(channel_, &cq, &owner) != 0) return some || errno != EAGAIN;
    verbs->ack_cq_events(cq, 1);
    const auto found = std::find_if(queues_.begin(), queues_.end(), [&](const Queue& queue) { return queue.cq == cq; });
    if (found->armed) --armed_;
    found->armed = false;
    quiet_ = false;
    some = true;
  }
  return some;
}

}  // namespace verbs::doca_comm::model
