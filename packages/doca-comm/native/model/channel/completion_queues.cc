#include "model/channel/completion_queues.h"

#include <algorithm>
#include <cerrno>

#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

void CompletionQueues::open(ibv_context* context, ibv_comp_channel* channel) {
  context_ = context;
  channel_ = channel;
}

void CompletionQueues::close() {
  for (const Queue& queue : queues_) Verbs::get()->destroy_cq(queue.cq);
  queues_.clear();
  next_ = armed_ = 0;
  events_wanted_ = idle_ = false;
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
  // The device may not support that size.
  const bool smaller = !cq && errno == EINVAL && size > entries;
  if (smaller) cq = Verbs::get()->create_cq(context_, entries, channel_);
  if (!cq) return nullptr;
  queues_.push_back({.cq = cq, .size = smaller ? entries : size, .reserved = entries});
  if (events_wanted_) arm();
  return cq;
}

void CompletionQueues::release(ibv_cq* cq, int entries) {
  for (Queue& queue : queues_) {
    if (queue.cq == cq) queue.released += entries;
  }
  idle_ = false;
}

int CompletionQueues::poll(ibv_wc* completions, int count) {
  idle_ = false;
  // Round robin: a queue that never becomes empty does not starve the others.
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    Queue& queue = queues_[next_++ % queues_.size()];
    const int found = Verbs::poll(queue.cq, count, completions);
    if (found != 0) return found;
    queue.reserved -= queue.released;
    queue.released = 0;
  }
  idle_ = events_wanted_ && armed();
  return 0;
}

std::uint64_t CompletionQueues::backlog(int count) const {
  int largest = 0;
  for (const Queue& queue : queues_) largest = std::max(largest, queue.size);
  return queues_.size() * static_cast<std::uint64_t>(largest + count);
}

bool CompletionQueues::arm(Awaits awaits) {
  events_wanted_ = true;
  bool some = false;
  for (Queue& queue : queues_) {
    if (queue.awaits >= awaits || ibv_req_notify_cq(queue.cq, awaits == Awaits::kSolicited) != 0) continue;
    if (queue.awaits == Awaits::kNothing) ++armed_;
    queue.awaits = awaits;
    idle_ = false;
    some = true;
  }
  return some;
}

bool CompletionQueues::drain_events() {
  const Verbs* verbs = Verbs::get();
  bool some = false;
  while (armed_ > 0 || (other_ && other_->armed_ > 0)) {
    ibv_cq* cq = nullptr;
    void* owner = nullptr;
    if (verbs->get_cq_event(channel_, &cq, &owner) != 0) return some || errno != EAGAIN;
    verbs->ack_cq_events(cq, 1);
    if (!take_event(cq) && other_) other_->take_event(cq);
    some = true;
  }
  return some;
}

bool CompletionQueues::take_event(const ibv_cq* cq) {
  const auto found = std::find_if(queues_.begin(), queues_.end(), [&](const Queue& queue) { return queue.cq == cq; });
  if (found == queues_.end()) return false;
  if (found->awaits != Awaits::kNothing) --armed_;
  found->awaits = Awaits::kNothing;
  idle_ = false;
  return true;
}

}  // namespace verbs::doca_comm::model
