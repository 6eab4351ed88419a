// The steering of raw packets: decides where sent frames go and which queue pairs get received ones.
#pragma once

#include <cstdint>

#include "verbs_soft_extension.h"

namespace verbs::soft::nic {

class Qp;

// Called from inside Scheduler::pump() and RawPackets::receive(). May call transmit() and deliver() of RawPackets, and
// nothing else of the NIC.
class FrameSteering {
 public:
  virtual void send(std::uint8_t port_num, Qp* qp, verbs_soft_frame* frame) = 0;
  virtual void receive(std::uint8_t port_num, verbs_soft_frame* frame) = 0;

 protected:
  ~FrameSteering() = default;
};

}  // namespace verbs::soft::nic
