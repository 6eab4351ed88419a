#include "host/ports/port_address.h"

#include <cerrno>
#include <mutex>
#include <set>

#include "host/progress/clock.h"
#include "link/process_instance.h"

namespace verbs::soft::host {

namespace {

// The addresses in use by devices of this process: two of them do not share one. A forked child has none.
struct Claims {
  std::mutex mutex;
  std::set<wire::Gid> gids;
};

Claims& claims() { return link::process_instance<Claims>(); }

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
  const bool shared = !links.numbers->has_all();
  if (links.reach != Reach::kProcess) {
    const link::UdpOptions options{.shared = shared, .foreign = links.foreign};
    if (const int error = link::UdpLink::open(address, options, &made->udp_)) return error;
    if (links.tunnels && address.is_ipv4()) {
      if (const int error = link::TunnelLink::open(address, *made->udp_, &made->tunnels_)) return error;
    }
  }
  if (made->udp_ && shared) {
    const auto port = made->udp_->fixed_source_port();
    made->group_ = std::make_unique<link::SocketGroup>(address, made->udp_->wait_fd(), port, links.numbers);
    if (const int error = made->group_->open()) return error;
  }
  const bool carries = links.reach == Reach::kAuto || links.reach == Reach::kShm;
  if (carries || made->group_) {
    const link::Sharing sharing{links.numbers, made->group_.get(), carries};
    if (const int error = link::ShmLink::open(address, made->sockets(), now, &made->shm_, sharing)) return error;
  }
  if (carries && links.offered != nullptr) made->shm_->offer(*links.offered);
  if (links.reach == Reach::kAuto || links.reach == Reach::kProcess) {
    link::Link* next = made->udp_ ? &made->others() : nullptr;
    made->inproc_ = std::make_unique<link::InprocLink>(address, next, notify, links.numbers, links.entrance);
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

int PortAddress::join(const wire::Gid& group, bool own) {
  if (udp_) {
    if (const int error = udp_->join(group)) return error;
  }
  if (inproc_) inproc_->join(group, own);
  return 0;
}

void PortAddress::leave(const wire::Gid& group) {
  if (udp_) udp_->leave(group);
  if (inproc_) inproc_->leave(group);
}

int PortAddress::serve(link::Range range) {
  if (!group_) return 0;
  if (const int error = shm_->serve(range)) return error;
  group_->add_range(range);
  return 0;
}

void PortAddress::unserve(link::Range range) {
  if (group_) shm_->unserve(range);
}

int PortAddress::open_service(const link::Service& service) { return group_ ? group_->open_service(service) : 0; }

void PortAddress::close_service(const link::Service& service) {
  if (group_) group_->close_service(service);
}

void PortAddress::abandon() {
  if (shm_) shm_->abandon();
  if (group_) group_->abandon();
  if (tunnels_) tunnels_->abandon();
  if (udp_) udp_->abandon();
}

PortAddress::~PortAddress() {
  const std::lock_guard lock(claims().mutex);
  claims().gids.erase(gid_);
}

}  // namespace verbs::soft::host
