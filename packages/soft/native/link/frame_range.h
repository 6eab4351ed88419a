// Which process of a shared address a frame is for. The processes divide the queue pair numbers among each other by
// ranges: the upper 12 bits of a number name its range. A number of a connection of the connection manager has the
// range of its process in its upper 12 bits, too, so that messages to queue pair 1 find their process likewise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"
#include "wire/frame.h"

namespace verbs::soft::link {

using Range = std::uint16_t;

inline constexpr unsigned kRangeBits = 12;
inline constexpr std::size_t kRanges = std::size_t{1} << (24 - kRangeBits);
// Any process: requests of the connection manager, frames to groups, and what no queue pair can have sent.
inline constexpr Range kAnyRange = 0xffff;
// A probe of the socket group (sharing/socket_group.h): to queue pair 0, which RoCE does not have.
inline constexpr Range kProbeRange = 0xfffe;

inline Range range_of_number(std::uint32_t qp_num) { return static_cast<Range>(qp_num >> kRangeBits & (kRanges - 1)); }
inline Range range_of_connection(std::uint32_t id) { return static_cast<Range>(id >> 20); }

// Of messages to queue pair 1, behind the headers of BTH and DETH.
namespace mad {
inline constexpr std::size_t kOffset = 12 + 8;  // in the transport packet
inline constexpr std::size_t kAttribute = 16, kRequestId = 24, kRemoteId = 28;
inline constexpr std::uint16_t kReq = 0x10, kSidrReq = 0x17, kSidrRep = 0x18;
}  // namespace mad

// To queue pair 1: a message of the connection manager.
inline bool is_management(std::span<const std::uint8_t> frame) {
  const std::size_t network = wire::network_size_of(frame);
  return network != 0 && frame.size() >= network + 8 &&
         (wire::load_be<std::uint32_t>(frame.data() + network + 4) & 0xffffff) == 1;
}

// Of a plain RoCE v2 frame.
inline Range range_of(std::span<const std::uint8_t> frame) {
  constexpr std::uint32_t kFirstOwn = 17, kManagement = 1, kGroup = 0xffffff;
  const std::size_t network = wire::network_size_of(frame);
  if (network == 0 || frame.size() < network + 8) return kAnyRange;
  const std::uint8_t* bth = frame.data() + network;
  const std::uint32_t number = wire::load_be<std::uint32_t>(bth + 4) & 0xffffff;
  if (number >= kFirstOwn) return number == kGroup ? kAnyRange : range_of_number(number);
  if (number == 0) return kProbeRange;
  if (number != kManagement || frame.size() < network + mad::kOffset + mad::kRemoteId + 4) return kAnyRange;
  const std::uint8_t* message = bth + mad::kOffset;
  const auto attribute = wire::load_be<std::uint16_t>(message + mad::kAttribute);
  if (attribute == mad::kReq || attribute == mad::kSidrReq) return kAnyRange;
  const std::size_t at = attribute == mad::kSidrRep ? mad::kRequestId : mad::kRemoteId;
  return range_of_connection(wire::load_be<std::uint32_t>(message + at));
}

}  // namespace verbs::soft::link
