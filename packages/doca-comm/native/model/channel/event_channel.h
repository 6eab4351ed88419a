// A descriptor for the user to wait on: readable when an armed completion queue had an event, when signal() was called,
// or when a packet came that may lead to one. The user never reads from it; arming clears it.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace verbs::doca_comm::model {

class EventChannel {
 public:
  EventChannel() = default;
  ~EventChannel() { close(); }
  EventChannel(const EventChannel&) = delete;
  EventChannel& operator=(const EventChannel&) = delete;

  int open(ibv_context* context);  // 0 or errno; nullptr makes one without a completion channel
  void close();
  int fd() const { return fd_; }
  ibv_comp_channel* channel() const { return channel_; }
  // Takes back what signal() said.
  void clear();
  void signal();

 private:
  ibv_comp_channel* channel_ = nullptr;
  int bell_ = -1;
  int fd_ = -1;
  bool signaled_ = false;
};

// Completion queues of one direction. A connection reserves room in one of them, so that none can overrun; new ones are
// made as connections come, each as large as all before.
class CompletionQueues {
 public:
  ~CompletionQueues() { close(); }
  void close();  // no connection is left
  void open(ibv_context* context, ibv_comp_channel* channel);

  ibv_cq* reserve(int entries);  // nullptr and errno
  // The connection's queue pairs are gone. What it left in the queue keeps its room until the queue is seen empty.
  void release(ibv_cq* cq, int entries);
  int poll(ibv_wc* completions, int count);  // negative on failure
  // Each gives one event at its next completion. What is there already gives none: poll after it.
  void arm();
  // Takes what events there are, making progress. Whether there was one, or cannot be known.
  bool take_events();
  // Every queue was armed, then found empty, and has had no event since: there is nothing to poll for.
  bool quiet() const { return quiet_; }
  // After that many completions of polls for `count`, all that is there now has been polled, whatever comes meanwhile.
  std::uint64_t backlog(int count) const;

 private:
  struct Queue {
    ibv_cq* cq;
    int size;
    int reserved = 0;
    int leaving = 0;
    bool armed = false;
  };

  ibv_context* context_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  std::vector<Queue> queues_;
  std::size_t turn_ = 0;
  std::size_t armed_ = 0;  // of the queues
  bool wanted_ = false;    // somebody waits for events: new queues are armed from the start
  bool quiet_ = false;
};

}  // namespace verbs::doca_comm::model
