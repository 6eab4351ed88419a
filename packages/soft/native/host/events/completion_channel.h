// The queue behind a completion channel. A CQ with several events is in the queue once, with a count, so that queueing
// an event allocates nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include "host/events/event_source.h"
#include "host/events/event_target.h"
#include "host/events/wait_set.h"

namespace verbs::soft::host {

class CompletionChannel final : public EventSource {
 public:
  int open() override;
  int fd() const override { return wait_set.fd(); }
  void push(EventTarget* target);
  EventTarget* pop();  // nullptr when empty
  // Removes the events of an object that is destroyed.
  void forget(EventTarget* target);

  // Between these two the caller makes progress for an event and takes it itself, so that push() raises no signal.
  // end_fetch() takes the first event (nullptr if there is none) and raises the signal if more are queued.
  void begin_fetch();
  EventTarget* end_fetch();

  // Whether the last event was awaited inside ibv_get_cq_event, not through the descriptor. A thread in that call makes
  // its own progress and needs no urgent helper.
  std::atomic<bool> waited_inline{false};
  // Attached while the program waits through the descriptor and accepts EAGAIN.
  WaitSet wait_set;
  // The program fetched without an event and went on: it may be woken by packets that complete nothing.
  std::atomic<bool> accepts_eagain{false};
  // How many fetches in a row found no event.
  std::atomic<int> empty_fetches{0};
  // Guarded by the device's lock: how many packets the device had received at the last fetch, and whether one woke a
  // silent program in vain, so that they are left to the helper thread until an event comes.
  std::uint64_t packets_seen = 0;
  bool silent = false;

 private:
  EventTarget* take();
  void append(EventTarget* target);
  EventTarget* head_ = nullptr;
  EventTarget* tail_ = nullptr;
  bool fetching_ = false;
};

}  // namespace verbs::soft::host
