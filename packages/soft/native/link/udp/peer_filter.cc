#include "link/udp/peer_filter.h"

#include <chrono>

namespace verbs::soft::link {

void PeerFilter::complete(std::span<std::uint8_t> frame, const wire::Path& path) {
  if (!path.sgid.is_ipv4() || !is_foreign(path.sgid)) return;
  if (!identifications_) identifications_ = std::make_unique<Identifications>();
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  identifications_->restore(frame, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace verbs::soft::link
