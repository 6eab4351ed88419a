// Which datagrams become frames. A software NIC of this project sends from its own port, and on one machine any user
// may bind the peer's loopback address at another port: so a datagram from another source port is taken from foreign
// peers only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "link/link.h"
#include "link/udp/foreign_peers.h"
#include "link/udp/identifications.h"
#include "wire/frame.h"

namespace verbs::soft::link {

class PeerFilter {
 public:
  // `port`: the source port of peers that are not foreign. `foreign` may be nullptr: there are none.
  PeerFilter(std::uint16_t port, std::shared_ptr<const ForeignPeers> foreign)
      : port_(port), foreign_(foreign && !foreign->empty() ? std::move(foreign) : nullptr) {}

  // False, and counted, for a frame (or a datagram of several) from a source port that its sender does not have.
  bool admits(const wire::Path& path) {
    if (path.source_port == port_ || is_foreign(path.sgid)) return true;
    ++rejected_;
    return false;
  }
  // Completes the header of an admitted frame, which was rebuilt without the fields that a socket does not show. A
  // frame whose ICRC was found right by that needs no second look: kUnsealed.
  FrameForm complete(std::span<std::uint8_t> frame, const wire::Path& path);
  std::uint64_t rejected() const { return rejected_; }

 private:
  bool is_foreign(const wire::Gid& gid) const { return foreign_ && foreign_->contains(gid); }

  std::uint16_t port_;
  std::shared_ptr<const ForeignPeers> foreign_;
  std::unique_ptr<Identifications> identifications_;  // from the first packet of a foreign peer on
  std::uint64_t rejected_ = 0;
};

}  // namespace verbs::soft::link
