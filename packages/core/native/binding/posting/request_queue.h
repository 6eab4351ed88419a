// The outstanding work requests (posted, not completed) of one queue: the send or the receive side of a QP, a
// shared receive queue, or a receive work queue.
//
// On the C side a request's wr_id is the queue's id and the request's place in it, so that a completion finds it; the
// caller's own wrId is kept here and given back. The memory regions and the address handle of a request stay alive
// until the completion shows that it is done. Nothing allocates after the construction.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "binding/lifetime/handle.h"
#include "binding/lifetime/object.h"

namespace verbs::core {

struct UserId {
  std::uint64_t value = 0;
  bool is_number = false;  // given as a number, not as a bigint
};

// More than any adapter has, and little enough to compute with.
constexpr bool can_queue(std::uint32_t max_wr, std::uint32_t max_sge) {
  return max_wr <= 1u << 24 && max_sge <= UINT16_MAX;
}

class RequestQueue {
 public:
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;
  virtual ~RequestQueue() {
    release_references();
    environment_.request_queues.erase(id_);
  }

  std::uint32_t max_sge() const { return max_sge_; }
  // Nothing is posted that is not known to be done.
  virtual bool idle() const = 0;

  // Staging: requests are written one after the other behind the posted ones…
  virtual bool full() const = 0;
  // …and give the wr_id for the C side. Must not be full.
  virtual std::uint64_t stage(UserId id) = 0;
  // Holds an object for the request staged last: at most max_sge memory regions and an address handle.
  void hold(Object& object) {
    object.pin();
    held_[std::size_t{last_} * holds_ + entries_[last_].held++] = &object;
  }
  // The first `count` staged requests were taken by the C library; the rest is forgotten.
  virtual void commit(std::uint32_t count) = 0;

  // Releases the requests that are done with this completion, and returns the caller's id of the one that it is of.
  virtual UserId retire(const ibv_wc& wc) = 0;

  // The C object is gone, and so is the adapter's interest in the memory. The caller's ids stay for late completions.
  void release_references();

  static std::uint32_t id_of(std::uint64_t wr_id) { return static_cast<std::uint32_t>(wr_id >> 32); }

 protected:
  struct Entry {
    UserId id;
    std::uint32_t held = 0;
  };

  RequestQueue(Environment& environment, std::size_t entries, std::uint32_t max_sge)
      : entries_(entries),
        max_sge_(max_sge),
        holds_(max_sge + 1),
        held_(entries * holds_),
        environment_(environment),
        id_(environment.request_queues.insert(this)) {}

  Environment& environment() const { return environment_; }
  std::uint64_t wr_id_of(std::uint32_t low) const { return std::uint64_t{id_} << 32 | low; }
  void forget(std::uint32_t index) {
    Entry& entry = entries_[index];
    Object** held = held_.data() + std::size_t{index} * holds_;
    while (entry.held != 0) held[--entry.held]->unpin();
  }
  void resize(std::size_t entries) {
    entries_.resize(entries);
    held_.resize(entries * holds_);
  }

  std::vector<Entry> entries_;
  std::uint32_t last_ = 0;  // the entry staged last

 private:
  std::uint32_t max_sge_;
  std::uint32_t holds_;        // for each entry: its regions and an address handle
  std::vector<Object*> held_;  // pinned
  Environment& environment_;   // outlives the queue, whose owner holds a context
  std::uint32_t id_;
};

}  // namespace verbs::core
