#include "host/adapter/events.h"

#include <cerrno>
#include <mutex>

#include "host/events/completion_channel.h"
#include "host/publication/reasons.h"
#include "nic/nic.h"
#include "verbs_soft_cancel.h"

namespace verbs::soft::host {

void EventRouter::completion(nic::Cq* cq) {
  auto* target = static_cast<EventTarget*>(cq->owner);
  if (target->channel) target->channel->push(target);
}

void EventRouter::async(const nic::AsyncEvent& event) {
  ibv_async_event reported{};
  reported.event_type = event.type;
  EventTarget* target = nullptr;
  if (event.qp) {
    target = static_cast<EventTarget*>(event.qp->owner);
    for (EventTarget* other = target->sharing; other; other = other->sharing) {
      reported.element.qp = static_cast<ibv_qp*>(other->ibv);
      other->async->push(reported, other);
    }
    if (event.qp->is_receive_queue) {
      reported.element.wq = static_cast<ibv_wq*>(target->ibv);
    } else {
      reported.element.qp = static_cast<ibv_qp*>(target->ibv);
    }
  } else if (event.cq) {
    target = static_cast<EventTarget*>(event.cq->owner);
    reported.element.cq = static_cast<ibv_cq*>(target->ibv);
  } else if (event.srq) {
    target = static_cast<EventTarget*>(event.srq->owner);
    reported.element.srq = static_cast<ibv_srq*>(target->ibv);
  } else {
    reported.element.port_num = event.port_num;
    for (const Context& context : contexts_) context.queue->push(reported, nullptr);
    return;
  }
  if (!target->muted) target->async->push(reported, target);
}

void EventRouter::explained(nic::ReasonEvent& event) {
  event.time = now();
  append_reason(device_, event);
}

namespace {

// Rounds of receiving for one event, each of a whole budget of frames.
constexpr int kFetchRounds = 16;
// After this many fetches in a row without an event, the packets that wake the waiter complete nothing for it: they are
// one-sided operations of the peer, or parts of long messages. The helper thread receives them from then on, until an
// event comes.
constexpr int kEmptyFetches = 16;

}  // namespace

int EventWaits::wait(EventSource& source) {
  const Uncancelled but_asleep;
  if (const int error = core_.reject_inherited()) return error;
  return core_.progress.wait(source);
}

int EventWaits::wait_inline(CompletionChannel& channel) {
  const Uncancelled but_asleep;
  detach_waiter(channel);
  channel.waited_inline = true;
  channel.accepts_eagain = false;
  return wait(channel);
}

int EventWaits::fetch(CompletionChannel& channel, EventTarget** target) {
  if (const int error = core_.reject_inherited()) return error;
  core_.lock.lock_after_others();
  const std::lock_guard guard(core_.lock, std::adopt_lock);
  channel.waited_inline = false;
  const Nanos time = now();
  const bool quiet = channel.wait_set.used_at != 0 && core_.progress.quiet(channel.wait_set, time);
  channel.begin_fetch();
  const bool receives = channel.empty();
  core_.progress.note_fetch(channel.wait_set, time, receives);
  const bool had_output = core_.engine.has_output();
  bool more = true;
  for (int round = 0; round < kFetchRounds && more && channel.empty(); ++round) more = core_.engine.receive(time);
  if (receives && more) core_.progress.wake();  // frames of this process are announced once
  // As in DataPath: the acknowledgement can leave with the program's next request.
  if (channel.empty() || had_output || !core_.progress.ticking()) core_.transmit(time);
  *target = channel.end_fetch();
  const std::uint64_t packets = core_.nic().counted().packets.rcvd_pkts;
  const bool in_vain = !*target && quiet && packets != channel.packets_seen;
  channel.packets_seen = packets;
  if (*target) {
    channel.silent = false;
    return 0;
  }
  channel.silent = in_vain || (channel.silent && !core_.progress.exchanges(time));
  if (in_vain) leave_to_helper(channel, time);
  channel.accepts_eagain = true;
  if (!channel.wait_set.attached()) {
    if (channel.empty_fetches <= kEmptyFetches && !channel.silent) core_.progress.attach(channel.wait_set);
  } else if (++channel.empty_fetches > kEmptyFetches) {
    core_.progress.detach(channel.wait_set);
    core_.progress.note_armed();
  }
  return EAGAIN;
}

// A packet came after a silence and completed nothing for the channel.
void EventWaits::leave_to_helper(CompletionChannel& channel, Nanos time) {
  core_.progress.detach(channel.wait_set);
  core_.progress.detach_quiet(time);
  core_.progress.note_armed();
}

void EventWaits::attach_waiter(CompletionChannel& channel) {
  if (!channel.accepts_eagain || channel.wait_set.attached() || core_.inherited()) return;
  const std::lock_guard guard(core_.lock);
  channel.silent = false;
  channel.wait_set.used_at = now();
  core_.progress.attach(channel.wait_set);
}

void EventWaits::detach_waiter(CompletionChannel& channel) {
  if (core_.inherited() || !channel.wait_set.attached()) return;
  const std::lock_guard guard(core_.lock);
  core_.progress.detach(channel.wait_set);
}

}  // namespace verbs::soft::host
