#include "host/ports/port_addresses.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>

#include "host/configuration/configuration.h"
#include "host/error.h"
#include "host/ports/port_holder.h"
#include "nic/objects/ports.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::host {

namespace {

constexpr int kLoopbackAddresses = 254;

void add_counters(const PortAddress& address, LinkCounters* counters) {
  if (address.udp()) counters->add(address.udp()->counters());
  if (address.tunnels()) counters->add(address.tunnels()->counters());
  if (address.shm()) counters->add(address.shm()->counters());
  if (address.inproc()) counters->add(address.inproc()->counters());
}

std::string describe(int error, const std::string& device, const wire::Gid& address) {
  const std::string where = "device " + device + ": the address " + format_address(address) + " ";
  if (error == EADDRNOTAVAIL) {
    return where + "is not one of this machine; give addr= an address of a network interface (\"ip addr\" lists them)";
  }
  if (error == EADDRINUSE) {
    const std::string holder = port_holder(address, wire::kRocePort);
    return where + "is taken" + (holder.empty() ? "" : ": " + holder) +
           "; processes of one user share an address, and no others do: choose another with addr=";
  }
  return where + "cannot be used: " + std::strerror(error);
}

std::vector<wire::Gid> without(const std::vector<wire::Gid>& all, const std::vector<wire::Gid>& left_out) {
  std::vector<wire::Gid> rest;
  std::ranges::copy_if(all, std::back_inserter(rest),
                       [&](const wire::Gid& each) { return std::ranges::find(left_out, each) == left_out.end(); });
  return rest;
}

std::string describe_tunnel(int error, const wire::Tunnel& tunnel) {
  const std::string protocol = std::to_string(tunnel.ip_protocol);
  switch (error) {
    case EADDRNOTAVAIL:
      return "the source address " + format_address(tunnel.source) +
             " is not one of this machine; give 0 for the port's own, or link=process for a device that stays in it";
    case EADDRINUSE:
      return "UDP port " + std::to_string(tunnel.udp_port) + " of its address is taken";
    case EPERM:
    case EACCES:
      return tunnel.type == wire::Tunnel::Type::kIpv4
                 ? "a tunnel by IP protocol " + protocol +
                       " to other processes needs a raw socket, and this process lacks the capability CAP_NET_RAW"
                 : "UDP port " + std::to_string(tunnel.udp_port) + " needs the capability CAP_NET_BIND_SERVICE";
    default:
      return std::string("the tunnel cannot be listened for: ") + std::strerror(error);
  }
}

}  // namespace

std::vector<wire::Gid> offered_addresses(const DeviceConfig& config) {
  return without(link::host_addresses(), config.elsewhere);
}

int PortAddresses::open(const PortSetup& setup) {
  const DeviceConfig& config = setup.config;
  device_ = config.name;
  port_name_ = config.name + "/" + std::to_string(setup.port_num);
  links_ = {.reach = config.reach,
            .tunnels = setup.has_tunnels(),
            .foreign = config.foreign,
            .offered = setup.offered,
            .numbers = setup.numbers,
            .entrance = setup.entrance};
  notify_ = setup.notify;
  if (config.addresses.empty()) {
    if (const int error = claim_loopback()) return error;
    if (!config.offers_host || setup.port_num != 1) return 0;
    elsewhere_ = config.elsewhere;
    watch_.open();  // before the first look
    host_ = offered_ = offered_addresses(config);
    return 0;
  }
  const std::size_t each = config.addresses.size() / static_cast<std::size_t>(config.ports);
  const std::size_t first = (setup.port_num - 1u) * each;
  for (std::size_t i = first; i < first + each; ++i) {
    std::unique_ptr<PortAddress> address;
    const int error = claim(config.addresses[i], &address);
    if (error != 0) return fail(error, describe(error, device_, config.addresses[i]));
    addresses_.push_back(std::move(address));
  }
  // GID index 0 is an IPv4 address if there is one.
  std::stable_partition(addresses_.begin(), addresses_.end(),
                        [](const auto& address) { return address->gid().is_ipv4(); });
  if (addresses_.size() > 1) several_ = std::make_unique<AddressLink>(links());
  return 0;
}

int PortAddresses::claim(const wire::Gid& address, std::unique_ptr<PortAddress>* claimed) const {
  return PortAddress::claim(address, links_, notify_, claimed);
}

int PortAddresses::claim_loopback() {
  int error = EADDRINUSE;
  for (int n = 1; n <= kLoopbackAddresses && error == EADDRINUSE; ++n) {
    std::unique_ptr<PortAddress> address;
    error = claim(loopback_address(n), &address);
    if (error == 0) addresses_.push_back(std::move(address));
  }
  if (error == 0) return 0;
  if (error != EADDRINUSE) return fail(error, describe(error, device_, loopback_address(1)));
  const std::string holder = port_holder(loopback_address(1), wire::kRocePort);
  return fail(EADDRINUSE, "device " + device_ + ": no address from 127.0.0.1 to 127.0.0.254 is free" +
                              (holder.empty() ? "" : ": " + holder) + "; end the holder, or give addr= another one");
}

std::vector<wire::Gid> PortAddresses::gids() const {
  std::vector<wire::Gid> gids;
  gids.reserve(addresses_.size());
  for (const auto& address : addresses_) gids.push_back(address->gid());
  gids.insert(gids.end(), offered_.begin(), offered_.end());
  return gids;
}

bool PortAddresses::has(const wire::Gid& address) const {
  return std::ranges::any_of(addresses_, [&](const auto& each) { return each->gid() == address; });
}

bool PortAddresses::offers(const wire::Gid& address) const {
  return std::ranges::find(offered_, address) != offered_.end();
}

bool PortAddresses::follow_host(Nanos now, const std::function<void(const wire::Gid&)>& come,
                                const std::function<void(const wire::Gid&)>& gone) {
  if (watch_.fd() < 0 || now - watched_at_ < kMillisecond) return false;
  watched_at_ = now;
  if (!watch_.take()) return false;
  const std::vector<wire::Gid> present = without(link::host_addresses(), elsewhere_);
  for (const wire::Gid& address : without(host_, present)) {
    std::erase(host_, address);
    std::erase(offered_, address);
    gone(address);
  }
  for (const wire::Gid& address : without(present, host_)) {
    host_.push_back(address);
    if (!has(address)) offered_.push_back(address);
    come(address);
  }
  return true;
}

std::vector<std::pair<wire::Gid, link::Link*>> PortAddresses::links() const {
  std::vector<std::pair<wire::Gid, link::Link*>> links;
  links.reserve(addresses_.size());
  for (const auto& address : addresses_) links.emplace_back(address->gid(), &address->link());
  return links;
}

// A port with one address has no AddressLink until its addresses change.
void PortAddresses::make_changeable() {
  if (!several_) several_ = std::make_unique<AddressLink>(links());
}

int PortAddresses::add(const wire::Gid& address) {
  std::unique_ptr<PortAddress> claimed;
  int error = claim(address, &claimed);
  if (error != 0) return fail(error, describe(error, device_, address));
  for (const link::Range range : ranges_) {
    error = claimed->serve(range);
    if (error != 0) return fail(error, describe(error, device_, address));
  }
  // One that another process has there stays with it.
  for (const link::Service& service : services_) {
    if (service.is_at(address)) (void)claimed->open_service(service);
  }
  for (const wire::Tunnel* tunnel : tunnels_) {
    error = claimed->listen(*tunnel);
    if (error != 0) return fail(error, "port " + port_name_ + ": " + describe_tunnel(error, *tunnel));
  }
  make_changeable();
  addresses_.reserve(addresses_.size() + 1);
  several_->add(address, &claimed->link());
  addresses_.push_back(std::move(claimed));
  std::erase(offered_, address);
  join_again();
  return 0;
}

int PortAddresses::remove(const wire::Gid& address) {
  const auto found =
      std::find_if(addresses_.begin(), addresses_.end(), [&](const auto& other) { return other->gid() == address; });
  if (found == addresses_.end() && std::erase(offered_, address) != 0) return 0;
  if (found == addresses_.end()) {
    return fail(ENOENT, "port " + port_name_ + " does not have the address " + format_address(address));
  }
  make_changeable();
  several_->flush();
  several_->remove(address);
  add_counters(**found, &removed_);
  addresses_.erase(found);
  join_again();
  return 0;
}

// Other addresses receive the groups of a removed one. The address is there, or gone, although a group is not joined.
void PortAddresses::join_again() {
  for (const wire::Gid& group : groups_) {
    contain([&] { return join_each(group); }, [](int error) { return error; });
  }
}

// Joins by the first IPv4 and the first IPv6 address of each network interface: more would receive each packet more
// than once. 0, or EADDRNOTAVAIL without an address.
int PortAddresses::join_each(const wire::Gid& group) {
  int error = EADDRNOTAVAIL;
  const link::Interfaces interfaces;
  for (const bool ipv4 : {true, false}) {
    const wire::Gid on_wire = nic::group_on_wire(group, ipv4);
    if (on_wire.is_ipv4() != ipv4) continue;
    std::vector<std::string_view> joined;
    for (const auto& address : addresses_) {
      const std::string& interface = interfaces.of(address->gid());
      if (address->gid().is_ipv4() != ipv4 || std::ranges::find(joined, interface) != joined.end()) continue;
      error = address->join(on_wire, joined.empty());
      if (error != 0) return error;
      joined.push_back(interface);
    }
  }
  return error;
}

int PortAddresses::join(const wire::Gid& group) {
  const int error = join_each(group);
  if (error != 0) {
    return fail(error, "port " + port_name_ + ": the multicast group " + format_address(group) +
                           " cannot be joined: " + std::strerror(error));
  }
  groups_.push_back(group);
  return 0;
}

void PortAddresses::leave(const wire::Gid& group) {
  std::erase(groups_, group);
  for (const bool ipv4 : {true, false}) {
    for (const auto& address : addresses_) address->leave(nic::group_on_wire(group, ipv4));
  }
}

int PortAddresses::listen(const wire::Tunnel& tunnel) {
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const int error = addresses_[i]->listen(tunnel);
    if (error == 0) continue;
    for (std::size_t j = 0; j < i; ++j) addresses_[j]->unlisten(tunnel);
    return fail(error, "port " + port_name_ + ": " + describe_tunnel(error, tunnel));
  }
  tunnels_.push_back(&tunnel);
  return 0;
}

void PortAddresses::unlisten(const wire::Tunnel& tunnel) {
  std::erase(tunnels_, &tunnel);
  for (const auto& address : addresses_) address->unlisten(tunnel);
}

bool PortAddresses::is_settled() const {
  return std::ranges::all_of(addresses_,
                             [](const auto& each) { return !each->group() || each->group()->is_settled(); });
}

void PortAddresses::give_up_waiting() {
  for (const auto& address : addresses_) {
    if (address->group()) address->group()->give_up_waiting();
  }
}

void PortAddresses::prepare_sleep() {
  for (const auto& address : addresses_) {
    if (address->shm()) address->shm()->prepare_sleep();
  }
}

void PortAddresses::stay_awake() {
  for (const auto& address : addresses_) {
    if (address->shm()) address->shm()->stay_awake();
  }
}

void PortAddresses::abandon() {
  watch_.abandon();
  for (const auto& address : addresses_) address->abandon();
}

int PortAddresses::serve(link::Range range) {
  ranges_.reserve(ranges_.size() + 1);
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const int error = addresses_[i]->serve(range);
    if (error == 0) continue;
    for (std::size_t j = 0; j < i; ++j) addresses_[j]->unserve(range);
    return error;
  }
  ranges_.push_back(range);
  return 0;
}

int PortAddresses::open_service(const link::Service& service) {
  services_.reserve(services_.size() + 1);
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    if (!service.is_at(addresses_[i]->gid())) continue;
    const int error = addresses_[i]->open_service(service);
    if (error == 0) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (service.is_at(addresses_[j]->gid())) addresses_[j]->close_service(service);
    }
    return error;
  }
  services_.push_back(service);
  return 0;
}

bool PortAddresses::serves(const wire::Gid& address) const {
  return std::ranges::any_of(services_,
                             [&](const auto& each) { return each.address.is_zero() && each.is_at(address); });
}

void PortAddresses::close_service(const link::Service& service) {
  const auto known = std::ranges::find(services_, service);
  if (known == services_.end()) return;
  services_.erase(known);
  for (const auto& address : addresses_) {
    if (service.is_at(address->gid())) address->close_service(service);
  }
}

link::Nanos PortAddresses::next_deadline() const {
  link::Nanos deadline = INT64_MAX;
  for (const auto& address : addresses_) {
    if (address->shm()) deadline = std::min(deadline, address->shm()->next_deadline());
  }
  return deadline;
}

void PortAddresses::add_sockets(std::vector<int>* sockets) const {
  for (const auto& address : addresses_) {
    if (address->udp()) address->udp()->add_sockets(sockets);
    if (address->tunnels()) sockets->push_back(address->tunnels()->wait_fd());
    if (address->shm()) sockets->push_back(address->shm()->wait_fd());
  }
  if (watch_.fd() >= 0) sockets->push_back(watch_.fd());
}

void PortAddresses::count(LinkCounters* counters) const {
  for (const auto& address : addresses_) add_counters(*address, counters);
  counters->add(removed_);
}

}  // namespace verbs::soft::host
