// Raw packets: whole Ethernet frames of RAW_PACKET queue pairs. The steering of a vendor model decides where a sent
// frame goes and which queue pairs get a received one. There are no connections, acknowledgements or addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nic/core/core.h"
#include "verbs_soft_extension.h"

namespace verbs::soft::nic {

class RawPackets {
 public:
  explicit RawPackets(Core& core) : core_(core) {}

  // A frame arrived on a port, or (`looped`) comes back to the port that sent it. Hands it to the steering.
  void receive(std::uint8_t port_num, std::span<const std::uint8_t> bytes, bool looped, Nanos now);
  // For the steering: sends a frame from a port. 0, EINVAL (no such port, or one without frames) or EMSGSIZE.
  int transmit(std::uint8_t port_num, const verbs_soft_frame& frame);
  // For the steering: gives a frame to a queue pair. 0 (also for a frame that is dropped and counted), EINVAL (no
  // RAW_PACKET QP) or EMSGSIZE.
  int deliver(Qp* qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery);

 private:
  Core& core_;
};

// Sends at most `budget` frames of a RAW_PACKET QP and returns how many requests were handled.
std::size_t send_raw_packets(Core& core, Qp& qp, std::size_t budget);

// The checksums that a NIC fills in when a raw packet is sent with IBV_SEND_IP_CSUM.

// Fills the checksums of the IPv4 header and of TCP or UDP over IPv4 or IPv6, behind up to two VLAN tags. A header that
// is absent or cut off is left alone, and fragments keep their transport checksum.
void fill_checksums(std::span<std::uint8_t> frame);

}  // namespace verbs::soft::nic
