// What the process has once: the lock of all identifiers and channels, and which of them exist. A call that is given
// another pointer fails.
//
// The device's lock comes before this one: nothing here calls the connection manager under the lock.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <set>
#include <type_traits>
#include <unordered_map>

#include "model/id/id.h"
#include "verbs_soft_boundary.h"
#include "verbs_soft_cancel.h"

namespace verbs::rdmacm::model {

class Library {
 public:
  static Library& get();

  std::mutex mutex;
  std::condition_variable acknowledged;  // an event was

  // Sleeps until what is acknowledged makes it true.
  template <typename Done>
  void wait(std::unique_lock<std::mutex>& lock, Done&& done) {
    const soft::Cancellable asleep;
    // In slices: condition_variable::wait without a time needs a libstdc++ that older distributions lack.
    while (!acknowledged.wait_for(lock, std::chrono::hours(1), done)) {
    }
  }

  // -- under the lock
  void add(Id* id) { ids_.insert(id); }
  void remove(Id* id) { ids_.erase(id); }
  bool has(const Id* id) const { return ids_.contains(const_cast<Id*>(id)); }
  void add(Channel* channel) { channels_.emplace(&channel->ibv, channel); }
  Channel* find(const rdma_event_channel* channel) const {
    const auto found = channels_.find(channel);
    return found == channels_.end() ? nullptr : found->second;
  }
  void remove(const rdma_event_channel* channel) { channels_.erase(channel); }
  bool is_used(const Channel* channel) const {
    return std::any_of(ids_.begin(), ids_.end(), [&](const Id* id) { return id->channel == channel; });
  }
  // The channel, to be freed, if the program has destroyed it and the last of its identifiers has left it.
  std::unique_ptr<Channel> release(Channel* channel) const {
    if (!channel->is_closed() || is_used(channel)) return nullptr;
    return std::unique_ptr<Channel>(channel);
  }
  // The program has the event from now on, until it acknowledges it. False: it has none at that address.
  void report(Event& event) { reported_.merge(event.self); }
  bool acknowledge(const Event* event) { return reported_.erase(event) != 0; }
  // In the child of a fork: identifiers are the parent's, as their devices are; channels serve those of the child.
  void leave_to_parent() noexcept {
    of_parent_.merge(ids_);  // which needs no memory, and keeps those of the parent's own parent
    for (const auto& [ibv, channel] : channels_) channel->renew();
    new (&acknowledged) std::condition_variable;  // not destroyed: it would wait for the parent's sleepers
  }
  bool is_of_parent(const Id* id) const { return of_parent_.contains(const_cast<Id*>(id)); }
  std::uint32_t random_psn() { return static_cast<std::uint32_t>(random_()) & 0xffffff; }

 private:
  std::mt19937 random_{std::random_device{}()};
  std::set<Id*> ids_, of_parent_;
  std::set<const Event*> reported_;
  std::unordered_map<const rdma_event_channel*, Channel*> channels_;
};

// The identifier; nullptr and errno: EINVAL if there is none at that address, EIO for one of the parent of a fork.
Id* find(rdma_cm_id* id);

// The convention of the library: -1 and errno.
int fail(int error);
// 0, or -1 with the errno value.
int result(int error);

// Runs a call of the program, which returns what it likes, or fails as the library does.
template <typename Call>
auto guarded(Call&& call) -> decltype(call()) {
  return soft::contain_call(call, [](int error) -> decltype(call()) {
    errno = error;
    if constexpr (std::is_same_v<decltype(call()), int>) return -1;
    if constexpr (std::is_pointer_v<decltype(call())>) return nullptr;
  });
}
// The same with a live identifier.
template <typename Call>
int with_id(rdma_cm_id* cm, Call&& call) {
  return guarded([&] {
    Id* id = find(cm);
    return id ? call(*id) : -1;
  });
}

// An identifier with its spare events.
std::unique_ptr<Id> make_id();

// The path, as the kernel answers for RoCE, where nobody is asked. 0 or ENOMEM.
int set_route(Id& id);

// An event of the identifier, to be queued when the rest is done: without memory nothing has changed yet.
std::unique_ptr<Event> make_event(Id& id);
void push_event(std::unique_ptr<Event> event, rdma_cm_event_type type, int status = 0) noexcept;

// The connection, which is the caller's to release; 0: none.
std::uint32_t take_connection(Id& id);

// A synchronous identifier has the event of its last call until the next one.
void acknowledge_last(Id& id);

// Waits for the outcome of a call on a synchronous identifier; 0 at once on another. 0, or -1 and errno.
int complete(Id& id);

}  // namespace verbs::rdmacm::model
