// Raw packets: what RAW_PACKET queue pairs send goes to the steering whole, and what the steering gives them is
// received whole. There is no connection, no acknowledgement and no address.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "nic/ports/port.h"
#include "verbs_soft_extension.h"

namespace verbs::soft::nic {

struct Core;
class Qp;

// Room for one frame, with headroom in front of it and some behind. Made at the first use: few NICs have raw packets.
class FrameBuffer {
 public:
  // For `size` bytes, at most VERBS_SOFT_FRAME_MAX.
  verbs_soft_frame frame(std::uint32_t size);

  bool looped = false;  // the frame comes back to the port that sent it

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
};

// Ethernet's own MTU is what netdevices have at least, whatever part of it RoCE uses.
inline std::uint32_t ethernet_mtu(ibv_mtu active) { return std::max<std::uint32_t>(mtu_bytes(active), 1500); }
inline std::uint32_t frame_limit_of(const Port& port) {
  constexpr std::uint32_t kHeaders = 18;  // addresses, type and one VLAN tag
  return ethernet_mtu(port.active_mtu()) + kHeaders;
}

// Sends what is posted, at most `budget` frames. Returns how many.
std::size_t send_raw_packets(Core& core, Qp& qp, std::size_t budget);

// As the functions of Nic.
void take_frame(Core& core, std::uint8_t port_num, std::span<const std::uint8_t> bytes, bool looped);
int transmit_frame(Core& core, std::uint8_t port_num, const verbs_soft_frame& frame);
int deliver_frame(Core& core, Qp& qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery);

}  // namespace verbs::soft::nic
