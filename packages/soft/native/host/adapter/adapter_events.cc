// Events of an adapter: how the NIC's become those of channels and contexts, and how they are waited for.
#include <cerrno>

#include "host/adapter/adapter.h"

namespace verbs::soft::host {

namespace {

// Rounds of taking in for one event, each of a whole budget of frames.
constexpr int kFetchRounds = 16;
// A descriptor that made its owner look so often in vain has packets that are not about him: operations of the peer
// that complete nothing here, or pieces of long messages. They are better left to the helper thread until an event
// comes.
constexpr int kEmptyFetches = 16;

}  // namespace

int Adapter::wait(EventSource& source) {
  if (const int error = refuse_inherited()) return error;
  return progress_.wait(source);
}

int Adapter::wait(CompletionChannel& channel) {
  release(channel);
  channel.waited_inline = true;
  channel.accepts_eagain = false;
  return wait(static_cast<EventSource&>(channel));
}

int Adapter::fetch(CompletionChannel& channel, EventTarget** target) {
  if (const int error = refuse_inherited()) return error;
  lock_.lock_after_others();
  const std::lock_guard guard(lock_, std::adopt_lock);
  channel.waited_inline = false;
  const Nanos time = now();
  progress_.note_fetch(channel.wait_set, time);
  channel.begin_fetch();
  const bool had_output = nic_->has_output();
  bool more = true;
  for (int round = 0; round < kFetchRounds && more && channel.empty(); ++round) more = receive(time);
  // The acknowledgement of what just arrived can go with the caller's answer, as with poll().
  if (channel.empty() || had_output || !progress_.ticking()) {
    transmit(time);
    settle();
  }
  *target = channel.end_fetch();
  if (*target) return 0;
  channel.accepts_eagain = true;
  if (!channel.wait_set.attached()) {
    if (channel.empty_fetches <= kEmptyFetches) progress_.attach(channel.wait_set);
  } else if (++channel.empty_fetches > kEmptyFetches) {
    progress_.detach(channel.wait_set);
    progress_.note_armed();
  }
  return EAGAIN;
}

void Adapter::attend(CompletionChannel& channel) {
  if (!channel.accepts_eagain || channel.wait_set.attached() || inherited()) return;
  const std::lock_guard guard(lock_);
  progress_.attach(channel.wait_set);
}

void Adapter::release(CompletionChannel& channel) {
  if (inherited() || !channel.wait_set.attached()) return;
  const std::lock_guard guard(lock_);
  progress_.detach(channel.wait_set);
}

void Adapter::add_listener(AsyncQueue* queue) {
  const std::lock_guard guard(lock_);
  listeners_.push_back(queue);
}

void Adapter::remove_listener(AsyncQueue* queue) {
  const std::lock_guard guard(lock_);
  std::erase(listeners_, queue);
}

void Adapter::completion(nic::Cq* cq) {
  auto* target = static_cast<EventTarget*>(nic::owner_of(cq));
  if (target->channel) target->channel->push(target);
}

void Adapter::async(const nic::AsyncEvent& event) {
  ibv_async_event told{};
  told.event_type = event.type;
  EventTarget* target = nullptr;
  if (event.qp) {
    target = static_cast<EventTarget*>(nic::owner_of(event.qp));
    for (EventTarget* other = target->sharing; other; other = other->sharing) {
      told.element.qp = static_cast<ibv_qp*>(other->ibv);
      other->async->push(told, other);
    }
    told.element.qp = static_cast<ibv_qp*>(target->ibv);
  } else if (event.cq) {
    target = static_cast<EventTarget*>(nic::owner_of(event.cq));
    told.element.cq = static_cast<ibv_cq*>(target->ibv);
  } else if (event.srq) {
    target = static_cast<EventTarget*>(nic::owner_of(event.srq));
    told.element.srq = static_cast<ibv_srq*>(target->ibv);
  } else {
    told.element.port_num = event.port_num;
    for (AsyncQueue* queue : listeners_) queue->push(told, nullptr);
    return;
  }
  target->async->push(told, target);
}

}  // namespace verbs::soft::host
