// An event channel: a queue of events, and a descriptor that is readable while it has some. The descriptor is a
// semaphore with a count for each event, so that a thread that reads it sleeps as its flags say (O_NONBLOCK), and wakes
// for an event of its own.
#pragma once

#include <rdma/rdma_cma.h>

#include <memory>

#include "model/event/event.h"

namespace verbs::rdmacm::model {

class Channel {
 public:
  // nullptr and errno.
  static std::unique_ptr<Channel> open();
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Waits until there may be an event. 0 or errno: EAGAIN, EINTR. Without the lock.
  int wait() const;

  // -- under the lock of the library
  void push(std::unique_ptr<Event> event) noexcept;
  // Takes back one that was popped: it is the next.
  void push_front(std::unique_ptr<Event> event) noexcept;
  std::unique_ptr<Event> pop() noexcept;  // nullptr without one: it was removed after the descriptor became readable
  // The program has destroyed the channel while identifiers use it: their events are lost from now on.
  void close();
  bool is_closed() const { return closed_; }
  // In the child of a fork: the events, and what is readable, stay with the parent; the channel is as new.
  void renew() noexcept;
  // Removes the events that an identifier counts, or those of one of its groups.
  EventQueue remove(const Id* id) noexcept;
  EventQueue remove(const Group* group) noexcept;

  rdma_event_channel ibv{};  // what the program holds

 private:
  Channel() = default;
  template <typename Leaves>
  EventQueue remove_if(Leaves&& leaves) noexcept;

  EventQueue events_;
  bool closed_ = false;  // `ibv` is the program's to change
};

}  // namespace verbs::rdmacm::model
