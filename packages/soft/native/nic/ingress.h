// The way of every RoCE v2 packet into the NIC: parse the headers, find the queue pair, check both once, and hand the
// packet to the responder, the completer or the datagram receiver.
#pragma once

#include <cstdint>
#include <span>

#include "link/message.h"
#include "nic/core/core.h"
#include "nic/core/packet.h"

namespace verbs::soft::nic {

class Ingress {
 public:
  explicit Ingress(Core& core) : core_(core) {}

  // A frame arrived on a port. May write memory, complete work requests and raise events; sends nothing. A frame that
  // fails a check is dropped and counted (dropped_pkts, link_dropped, icrc_err).
  void deliver(std::uint8_t port_num, std::span<const std::uint8_t> frame, Nanos now,
               link::FrameForm form = link::FrameForm::kSealed) {
    deliver(port_num, frame, now, form, nullptr);
  }
  // A frame that refers to its payload in `memory`.
  void deliver_referring(std::uint8_t port_num, std::span<const std::uint8_t> frame, Nanos now,
                         link::SenderMemory& memory) {
    deliver(port_num, frame, now, link::FrameForm::kReferring, &memory);
  }
  // A message in place of a packet. False: no packet is like this.
  bool deliver_message(std::uint8_t port_num, const link::Message& message, std::span<const std::uint8_t> payload,
                       const link::MessageEnds& ends, Nanos now);
  // The link has refused a packet for its source port, and counted it: this tells why.
  [[gnu::cold]] void refuse(const wire::Path& path, Nanos now);

 private:
  bool take_message(std::uint8_t port_num, const link::Message& message, std::span<const std::uint8_t> payload,
                    const link::MessageEnds& ends);
  void deliver(std::uint8_t port_num, std::span<const std::uint8_t> frame, Nanos now, link::FrameForm form,
               link::SenderMemory* memory);
  void handle_referring(Qp& qp, const Packet& packet, link::SenderMemory& memory, Nanos now);
  [[gnu::cold]] void drop(Reason reason = Reason::kDropMalformed);

  Core& core_;
};

}  // namespace verbs::soft::nic
