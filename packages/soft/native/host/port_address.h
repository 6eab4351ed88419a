// One address of a port: claimed for this process, and the links that serve it.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "../link/inproc_link.h"
#include "../link/udp_link.h"
#include "configuration.h"

namespace verbs::soft::host {

class PortAddress {
 public:
  // 0 or errno: EADDRINUSE if somebody has the address, EADDRNOTAVAIL if it is not this machine's.
  static int claim(const wire::Gid& address, Reach reach, const std::function<void()>& ring,
                   std::unique_ptr<PortAddress>* claimed);
  ~PortAddress();

  const wire::Gid& gid() const { return gid_; }
  link::Link& link() { return inproc_ ? static_cast<link::Link&>(*inproc_) : *udp_; }
  const link::UdpLink* udp() const { return udp_.get(); }
  const link::InprocLink* inproc() const { return inproc_.get(); }

 private:
  explicit PortAddress(const wire::Gid& gid) : gid_(gid) {}

  wire::Gid gid_;
  std::unique_ptr<link::UdpLink> udp_;
  std::unique_ptr<link::InprocLink> inproc_;  // in front of it
};

}  // namespace verbs::soft::host
