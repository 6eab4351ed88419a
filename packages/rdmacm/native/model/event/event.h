// Events on their way from the connection manager to the program.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

namespace verbs::rdmacm::model {

// Types of events since release 60.
inline const auto kAddrinfoResolved = static_cast<rdma_cm_event_type>(16);  // RDMA_CM_EVENT_ADDRINFO_RESOLVED
inline const auto kAddrinfoError = static_cast<rdma_cm_event_type>(17);     // RDMA_CM_EVENT_ADDRINFO_ERROR
inline const auto kUserEvent = static_cast<rdma_cm_event_type>(18);         // RDMA_CM_EVENT_USER

struct Group;
struct Id;

struct Event {
  rdma_cm_event ibv{};     // what the program gets; first
  Id* id = nullptr;        // the identifier that counts it: of a request, the listening one
  Group* group = nullptr;  // of a multicast event
  Event* next = nullptr;
  std::array<std::uint8_t, 256> data{};
  std::set<const Event*> self{this};  // becomes a part of the library's set, which needs no memory then
};

// A queue that needs no memory of its own: what has an event can queue it.
class EventQueue {
 public:
  EventQueue() = default;
  EventQueue(EventQueue&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)), last_(std::exchange(other.last_, nullptr)) {}
  EventQueue& operator=(EventQueue&& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    return *this;
  }
  ~EventQueue() {
    while (pop()) {
    }
  }

  void push(std::unique_ptr<Event> event) noexcept {
    Event* const added = event.release();
    added->next = nullptr;
    (last_ ? last_->next : first_) = added;
    last_ = added;
  }
  void push_front(std::unique_ptr<Event> event) noexcept {
    event->next = first_;
    first_ = event.release();
    if (!last_) last_ = first_;
  }
  // nullptr if it is empty.
  std::unique_ptr<Event> pop() noexcept {
    std::unique_ptr<Event> event(first_);
    if (!event) return event;
    first_ = event->next;
    if (!first_) last_ = nullptr;
    return event;
  }

 private:
  Event* first_ = nullptr;
  Event* last_ = nullptr;
};

}  // namespace verbs::rdmacm::model
