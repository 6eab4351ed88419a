// The queues behind a completion channel and behind a context's asynchronous events. Each has a signal, a descriptor
// that is readable exactly while events are queued, and a lock of its own: events are put in under the device's lock
// and taken out without it.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "host/events/signal_fd.h"
#include "host/events/wait_set.h"

namespace verbs::soft::host {

class CompletionChannel;
class AsyncQueue;

// A CQ, QP or SRQ as the event queues see it: the owner pointer of the NIC's object.
struct EventTarget {
  void* face = nullptr;  // the ibv_cq, ibv_qp or ibv_srq
  CompletionChannel* channel = nullptr;
  AsyncQueue* async = nullptr;
  EventTarget* sharing = nullptr;  // the next handle of a shared QP, which gets the same events
  // How many events were handed out: destroying the object waits until as many are acknowledged. Read these two after
  // forget(); before, they are the queues'.
  std::uint32_t completions_reported = 0;
  std::uint32_t async_reported = 0;
  // A CQ that was armed for a descriptor which packets make readable: the look that follows the arming need not ask the
  // sockets, for what waits there wakes whoever goes to sleep now. Guarded by the device's lock.
  bool packets_wake = false;

 private:
  friend class CompletionChannel;
  std::uint32_t pending = 0;
  EventTarget* next = nullptr;
};

// What the two queues have in common: something to wait for.
class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual int open() { return signal_.open(); }  // 0 or errno
  // What the program waits on.
  virtual int fd() const { return signal_.fd(); }
  int signal() const { return signal_.fd(); }
  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

 protected:
  std::mutex mutex_;
  SignalFd signal_;
  std::atomic<std::size_t> size_{0};
};

// Completion events. A CQ with several events stands in the queue once, with a count: no allocation.
class CompletionChannel final : public EventSource {
 public:
  int open() override;
  int fd() const override { return wait_set.fd(); }
  void push(EventTarget* target);
  EventTarget* pop();  // nullptr when empty
  void forget(EventTarget* target);

  // What is pushed between these two is about to be popped by the caller: no signal for it. The end pops the first
  // event and signals if there are more.
  void begin_fetch();
  EventTarget* end_fetch();

  // Whether the last event was waited for inside ibv_get_cq_event, not through the descriptor. The helper thread need
  // not hurry for such a channel: the waiting thread makes its own progress.
  std::atomic<bool> waited_inline{false};
  // Attached while events are waited for through the descriptor by a program that does not mind finding none.
  WaitSet wait_set;
  // The program looked for an event, found none and did not mind: it may be woken for nothing.
  std::atomic<bool> takes_none{false};
  // How often in a row nothing was found.
  std::atomic<int> empty_looks{0};

 private:
  EventTarget* take();
  void append(EventTarget* target);
  EventTarget* head_ = nullptr;
  EventTarget* tail_ = nullptr;
  bool fetching_ = false;
};

class AsyncQueue final : public EventSource {
 public:
  void push(const ibv_async_event& event, EventTarget* target);  // target: nullptr for events of the port or device
  bool pop(ibv_async_event* event);
  void forget(const EventTarget* target);

 private:
  struct Entry {
    ibv_async_event event;
    EventTarget* target;
  };
  std::deque<Entry> entries_;
};

}  // namespace verbs::soft::host
