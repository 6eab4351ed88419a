#include "host/ports/port_address.h"

#include <cerrno>
#include <mutex>
#include <set>

#include "host/progress/clock.h"

namespace verbs::soft::host {

namespace {

// The addresses in use by devices of this process. For an address without a socket this is the only claim. A forked
// child inherits the set: the addresses stay taken while the parent lives.
struct Claims {
  std::mutex mutex;
  std::set<wire::Gid> gids;
};

Claims& claims() {
  static auto* instance = new Claims;  // outlives every thread
  return *instance;
}

}  // namespace

int PortAddress::claim(const wire::Gid& address, const PortLinks& links, const std::function<void()>& notify,
                       std::unique_ptr<PortAddress>* claimed) {
  std::unique_ptr<PortAddress> made;
  {
    const std::lock_guard lock(claims().mutex);
    if (claims().gids.contains(address)) return EADDRINUSE;
    std::set<wire::Gid> claim{address};
    made.reset(new PortAddress(address));  // its destructor gives the claim back
    claims().gids.merge(claim);            // needs no memory
  }
  if (links.reach != Reach::kProcess) {
    if (const int error = link::UdpLink::open(address, {.foreign = links.foreign}, &made->udp_)) return error;
    if (links.tunnels && address.is_ipv4()) {
      if (const int error = link::TunnelLink::open(address, *made->udp_, &made->tunnels_)) return error;
    }
  }
  if (links.reach == Reach::kAuto || links.reach == Reach::kShm) {
    if (const int error = link::ShmLink::open(address, made->sockets(), now, &made->shm_)) return error;
  }
  if (made->shm_ && links.offered != nullptr) made->shm_->offer(*links.offered);
  if (links.reach == Reach::kAuto || links.reach == Reach::kProcess) {
    link::Link* next = made->udp_ ? &made->others() : nullptr;
    made->inproc_ = std::make_unique<link::InprocLink>(address, next, notify, links.entrance);
  }
  *claimed = std::move(made);
  return 0;
}

int PortAddress::listen(const wire::Tunnel& tunnel) {
  if (!tunnels_) return 0;
  const int error = tunnels_->listen(tunnel);
  return error == EPERM && inproc_ ? 0 : error;
}

void PortAddress::unlisten(const wire::Tunnel& tunnel) {
  if (tunnels_) tunnels_->unlisten(tunnel);
}

int PortAddress::join(const wire::Gid& group) {
  if (udp_) {
    if (const int error = udp_->join(group)) return error;
  }
  if (inproc_) inproc_->join(group);
  return 0;
}

void PortAddress::leave(const wire::Gid& group) {
  if (udp_) udp_->leave(group);
  if (inproc_) inproc_->leave(group);
}

PortAddress::~PortAddress() {
  const std::lock_guard lock(claims().mutex);
  claims().gids.erase(gid_);
}

}  // namespace verbs::soft::host
