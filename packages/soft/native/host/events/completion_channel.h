// The queue behind a completion channel. A CQ with several events is in the queue once, with a count, so that queueing
// an event allocates nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "host/events/wait_set.h"

namespace verbs::soft::host {

// The common part of a completion channel and a queue of asynchronous events: a thread can wait for an event. Each has
// a descriptor that is readable exactly while events are queued, and a lock of its own: events are queued under the
// device's lock and taken without it.

class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual int open() { return signal_.open(); }  // 0 or errno
  // The descriptor that the program has.
  virtual int fd() const { return signal_.fd(); }
  int signal() const { return signal_.fd(); }
  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

 protected:
  std::mutex mutex_;
  SignalFd signal_;
  std::atomic<std::size_t> size_{0};
};

// A CQ, QP or SRQ as the event queues see it: the owner pointer of the NIC's object.

class AsyncQueue;
class CompletionChannel;

struct EventTarget {
  void* ibv = nullptr;  // the ibv_cq, ibv_qp, ibv_srq or ibv_wq
  CompletionChannel* channel = nullptr;
  AsyncQueue* async = nullptr;
  EventTarget* sharing = nullptr;  // the next handle of a shared QP, which gets the same events
  // How many events the program received: destroying the object waits until it has acknowledged them. Written by the
  // queues; read after forget().
  std::uint32_t completions_reported = 0;
  std::uint32_t async_reported = 0;
  bool muted = false;  // a model's own QP, without asynchronous events. Guarded by the device's lock
  // The CQ was armed while its channel's wait set was attached. Packets then wake the waiter, and the first poll after
  // arming need not read the sockets. Guarded by the device's lock.
  bool packets_wake = false;

 private:
  friend class CompletionChannel;
  std::uint32_t pending_ = 0;
  EventTarget* next_ = nullptr;
};

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
