#include "link/udp/peer_filter.h"

#include <chrono>
#include <optional>

#include "link/udp/transmit_batch.h"
#include "wire/identification.h"

namespace verbs::soft::link {
namespace {

// Datagrams between loopback addresses are not split, and keep identification 0.
bool is_loopback(const wire::Gid& ipv4) { return ipv4.ipv4()[0] == 127; }

// A segment of a joined datagram of one of our own NICs is sealed for its number in it (transmit_batch.h). The socket
// does not show which that was: it may come alone or, joined again, at another place.
FrameForm restore_number(std::span<std::uint8_t> frame) {
  const std::optional<std::uint16_t> number = wire::solve_identification(frame);
  if (!number || *number >= TransmitBatch::kMostSegments) return FrameForm::kSealed;
  if (*number != 0) wire::set_identification(frame, *number);
  return FrameForm::kUnsealed;
}

}  // namespace

FrameForm PeerFilter::complete(std::span<std::uint8_t> frame, const wire::Path& path) {
  if (!path.sgid.is_ipv4()) return FrameForm::kSealed;
  if (!is_foreign(path.sgid)) return is_loopback(path.sgid) ? FrameForm::kSealed : restore_number(frame);
  if (!identifications_) identifications_ = std::make_unique<Identifications>();
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  identifications_->restore(frame, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  return FrameForm::kSealed;
}

}  // namespace verbs::soft::link
