#include "port_address.h"

#include <cerrno>
#include <mutex>
#include <set>

namespace verbs::soft::host {

namespace {

// Addresses in use by devices of this process; those without a socket are claimed by nothing else. A forked child
// inherits the set but not the addresses, which is right as long as the parent lives and harmless after it.
struct Claims {
  std::mutex mutex;
  std::set<wire::Gid> gids;
};

Claims& claims() {
  static auto* instance = new Claims;  // outlives every thread
  return *instance;
}

}  // namespace

int PortAddress::claim(const wire::Gid& address, Reach reach, const std::function<void()>& ring,
                       std::unique_ptr<PortAddress>* claimed) {
  {
    const std::lock_guard lock(claims().mutex);
    if (!claims().gids.insert(address).second) return EADDRINUSE;
  }
  std::unique_ptr<PortAddress> made(new PortAddress(address));
  if (reach != Reach::kProcess) {
    if (const int error = link::UdpLink::open(address, {}, &made->udp_)) return error;
  }
  if (reach != Reach::kUdp) made->inproc_ = std::make_unique<link::InprocLink>(address, made->udp_.get(), ring);
  *claimed = std::move(made);
  return 0;
}

PortAddress::~PortAddress() {
  const std::lock_guard lock(claims().mutex);
  claims().gids.erase(gid_);
}

}  // namespace verbs::soft::host
