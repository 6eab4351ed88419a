// The events that the NIC reports to its host.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace verbs::soft::nic {

class Cq;
class Qp;
class Srq;

struct AsyncEvent {
  ibv_event_type type;
  Qp* qp = nullptr;  // set for QP events
  Cq* cq = nullptr;  // set for CQ events
  std::uint8_t port_num = 0;
  Srq* srq = nullptr;  // set for SRQ events
};

// Called from inside the calls of the NIC, under the host's lock. An implementation notes the event down and calls no
// function of the NIC.
class EventSink {
 public:
  virtual void completion(Cq* cq) = 0;  // an armed CQ got its entry, and is disarmed
  virtual void async(const AsyncEvent& event) = 0;

 protected:
  ~EventSink() = default;
};

}  // namespace verbs::soft::nic
