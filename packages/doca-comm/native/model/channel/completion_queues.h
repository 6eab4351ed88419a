// The completion queues of an endpoint in one direction, sends or receives. A connection reserves entries in one of
// them, so that none overruns. A new queue is created when no queue has room, as large as all others together.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace verbs::doca_comm::model {

class CompletionQueues {
 public:
  ~CompletionQueues() { close(); }
  void open(ibv_context* context, ibv_comp_channel* channel);
  // Those of the other direction have the same channel: the events of both are fetched together.
  void share(CompletionQueues& other) { other_ = &other; }
  void close();  // after the last connection

  ibv_cq* reserve(int entries);  // nullptr and errno
  // Called when the connection's queue pairs are destroyed. Its completions may still be in the queue: the entries
  // become free when the queue is next found empty.
  void release(ibv_cq* cq, int entries);
  // The number of completions, 0 if all queues are empty, negative on failure.
  int poll(ibv_wc* completions, int count);
  // What an armed queue gives its event for: the next completion, or the next that the peer asked for or that failed.
  enum class Awaits { kNothing, kSolicited, kAny };
  // Requests one event of each queue. Completions that are there already give no event: poll afterwards. True if a
  // queue was not armed before, or for less.
  bool arm(Awaits awaits = Awaits::kAny);
  bool armed() const { return armed_ == queues_.size(); }
  // Gets and acknowledges all events, which makes progress. True if there was an event, or if that cannot be known.
  bool drain_events();
  // Every queue was armed, then found empty, and has had no event since: a poll would find nothing.
  bool idle() const { return idle_; }
  // An upper bound: polling that many completions, `count` at a time, returns every completion that is there now,
  // whatever arrives meanwhile.
  std::uint64_t backlog(int count) const;

 private:
  struct Queue {
    ibv_cq* cq;
    int size;
    int reserved = 0;
    int released = 0;  // of the reserved: free when the queue is empty
    Awaits awaits = Awaits::kNothing;
  };

  ibv_context* context_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  CompletionQueues* other_ = nullptr;
  std::vector<Queue> queues_;
  bool take_event(const ibv_cq* cq);

  std::size_t next_ = 0;  // the queue that is polled next
  std::size_t armed_ = 0;
  bool events_wanted_ = false;  // arm() was called: new queues are armed at once
  bool idle_ = false;
};

}  // namespace verbs::doca_comm::model
