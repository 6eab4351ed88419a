// Who decides about raw packets: what a queue pair sends, and what arrives at a port.
#pragma once

#include <cstdint>

#include "verbs_soft_extension.h"

namespace verbs::soft::nic {

class Qp;

// Called from inside pump() and take_frame(); may call transmit_frame() and deliver_frame() of the NIC, nothing else.
class FrameSteering {
 public:
  virtual void send(std::uint8_t port_num, Qp* qp, verbs_soft_frame* frame) = 0;
  virtual void receive(std::uint8_t port_num, verbs_soft_frame* frame) = 0;

 protected:
  ~FrameSteering() = default;
};

}  // namespace verbs::soft::nic
