#include "host/ports/port_stack.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/configuration/address.h"
#include "host/error.h"
#include "host/ports/address_link.h"
#include "host/ports/link_stack.h"
#include "host/ports/port_address.h"
#include "host/ports/port_holder.h"
#include "nic/ports/multicast.h"

namespace verbs::soft::host {

namespace {

constexpr int kLoopbackAddresses = 254;

void add_counters(const PortAddress& address, LinkCounters* counters) {
  if (address.udp()) counters->add(address.udp()->counters());
  if (address.tunnels()) counters->add(address.tunnels()->counters());
  if (address.inproc()) counters->add(address.inproc()->counters());
}

std::string describe(int error, const std::string& device, const wire::Gid& address) {
  const std::string where = "device " + device + ": the address " + format_address(address) + " ";
  if (error == EADDRNOTAVAIL) {
    return where + "is not one of this machine; give addr= an address of a network interface (\"ip addr\" lists them)";
  }
  if (error == EADDRINUSE) {
    const std::string holder = port_holder(address, wire::kRocePort);
    return where + "is taken" + (holder.empty() ? "" : ": " + holder) + "; choose another with addr=";
  }
  return where + "cannot be used: " + std::strerror(error);
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

struct PortStack::Links {
  std::vector<std::unique_ptr<PortAddress>> addresses;
  std::unique_ptr<AddressLink> several;  // with more than one address
  std::unique_ptr<LinkStack> stack;
  std::unique_ptr<ModelLink> model;
  FrameHook hook;
  std::uint8_t port_num = 1;
  std::string device;
  Reach reach = Reach::kAuto;
  std::function<void()> notify;
  bool has_tunnels = false;
  std::vector<const wire::Tunnel*> tunnels;  // that are listened for
  std::vector<wire::Gid> groups;
  LinkCounters ended;  // of earlier addresses

  // Joins by the first IPv4 and the first IPv6 address: more would receive each packet more than once. 0, or
  // EADDRNOTAVAIL without an address.
  int join(const wire::Gid& group) {
    int error = EADDRNOTAVAIL;
    for (const bool ipv4 : {true, false}) {
      const wire::Gid on_wire = nic::group_on_wire(group, ipv4);
      if (on_wire.is_ipv4() != ipv4) continue;
      const auto first = std::find_if(addresses.begin(), addresses.end(),
                                      [&](const auto& address) { return address->gid().is_ipv4() == ipv4; });
      if (first == addresses.end()) continue;
      error = (*first)->join(on_wire);
      if (error != 0) return error;
    }
    return error;
  }

  link::Link& base() { return several ? static_cast<link::Link&>(*several) : addresses.front()->link(); }

  std::string interface_name() const { return device + "/" + std::to_string(port_num); }

  std::vector<std::pair<wire::Gid, link::Link*>> address_links() const {
    std::vector<std::pair<wire::Gid, link::Link*>> links;
    for (const auto& address : addresses) links.emplace_back(address->gid(), &address->link());
    return links;
  }

  // Rebuilds the model's link on the present stack.
  link::Link* top() {
    if (!hook.wanted()) return &stack->top();
    model = std::make_unique<ModelLink>(stack->top(), hook, port_num);
    return model.get();
  }
};

PortStack::PortStack() : links_(std::make_unique<Links>()) {}
PortStack::~PortStack() = default;

int PortStack::open(const PortSetup& setup, std::unique_ptr<PortStack>* port) {
  std::unique_ptr<PortStack> opened(new PortStack);
  if (const int error = opened->open_addresses(setup)) return error;
  Links& links = *opened->links_;
  // GID index 0 is an IPv4 address if there is one.
  std::stable_partition(links.addresses.begin(), links.addresses.end(),
                        [](const auto& address) { return address->gid().is_ipv4(); });
  for (const auto& address : links.addresses) opened->gids_.push_back(address->gid());
  if (links.addresses.size() > 1) links.several = std::make_unique<AddressLink>(links.address_links());
  links.hook = setup.hook;
  links.port_num = setup.port_num;
  links.device = setup.config.name;
  links.reach = setup.config.reach;
  links.notify = setup.notify;
  links.has_tunnels = setup.has_tunnels();
  links.stack = std::make_unique<LinkStack>(links.base());
  opened->set_faults(setup.config.faults);
  *port = std::move(opened);
  return 0;
}

int PortStack::open_addresses(const PortSetup& setup) {
  const DeviceConfig& config = setup.config;
  auto& addresses = links_->addresses;
  const bool tunnels = setup.has_tunnels();
  if (config.addresses.empty()) {
    int error = EADDRINUSE;
    for (int n = 1; n <= kLoopbackAddresses && error == EADDRINUSE; ++n) {
      std::unique_ptr<PortAddress> address;
      error = PortAddress::claim(loopback_address(n), config.reach, tunnels, setup.notify, &address);
      if (error == 0) addresses.push_back(std::move(address));
    }
    if (error == 0) return 0;
    if (error != EADDRINUSE) return fail(error, describe(error, config.name, loopback_address(1)));
    const std::string holder = port_holder(loopback_address(1), wire::kRocePort);
    return fail(EADDRINUSE, "device " + config.name + ": no address from 127.0.0.1 to 127.0.0.254 is free" +
                                (holder.empty() ? "" : ": " + holder) + "; end the holder, or give addr= another one");
  }
  const std::size_t each = config.addresses.size() / static_cast<std::size_t>(config.ports);
  const std::size_t first = (setup.port_num - 1u) * each;
  for (std::size_t i = first; i < first + each; ++i) {
    std::unique_ptr<PortAddress> address;
    const int error = PortAddress::claim(config.addresses[i], config.reach, tunnels, setup.notify, &address);
    if (error != 0) return fail(error, describe(error, config.name, config.addresses[i]));
    addresses.push_back(std::move(address));
  }
  return 0;
}

int PortStack::add_address(const wire::Gid& address) {
  std::unique_ptr<PortAddress> claimed;
  int error = PortAddress::claim(address, links_->reach, links_->has_tunnels, links_->notify, &claimed);
  if (error != 0) return fail(error, describe(error, links_->device, address));
  for (const wire::Tunnel* tunnel : links_->tunnels) {
    error = claimed->listen(*tunnel);
    if (error != 0) return fail(error, "port " + links_->interface_name() + ": " + describe_tunnel(error, *tunnel));
  }
  make_changeable();
  links_->several->add(address, &claimed->link());
  links_->addresses.push_back(std::move(claimed));
  for (const wire::Gid& group : links_->groups) links_->join(group);
  return 0;
}

int PortStack::remove_address(const wire::Gid& address) {
  const auto found = std::find_if(links_->addresses.begin(), links_->addresses.end(),
                                  [&](const auto& other) { return other->gid() == address; });
  if (found == links_->addresses.end()) {
    return fail(ENOENT, "device " + links_->device + ": port " + std::to_string(links_->port_num) +
                            " does not have the address " + format_address(address));
  }
  make_changeable();
  flush();
  links_->several->remove(address);
  add_counters(**found, &links_->ended);
  links_->addresses.erase(found);
  // Another address receives the groups of the removed one.
  for (const wire::Gid& group : links_->groups) links_->join(group);
  return 0;
}

// A port with one address has no AddressLink until its addresses change.
void PortStack::make_changeable() {
  if (links_->several) return;
  links_->several = std::make_unique<AddressLink>(links_->address_links());
  links_->stack->redirect(*links_->several);
  top_ = links_->top();
}

int PortStack::join(const wire::Gid& group) {
  const int error = links_->join(group);
  if (error != 0) {
    return fail(error, "port " + links_->interface_name() + ": the multicast group " + format_address(group) +
                           " cannot be joined: " + std::strerror(error));
  }
  links_->groups.push_back(group);
  return 0;
}

void PortStack::leave(const wire::Gid& group) {
  std::erase(links_->groups, group);
  for (const bool ipv4 : {true, false}) {
    for (const auto& address : links_->addresses) address->leave(nic::group_on_wire(group, ipv4));
  }
}

void PortStack::add_sockets(std::vector<int>* sockets) const {
  for (const auto& address : links_->addresses) {
    if (address->udp()) address->udp()->add_sockets(sockets);
    if (address->tunnels()) sockets->push_back(address->tunnels()->wait_fd());
  }
}

int PortStack::listen(const wire::Tunnel& tunnel) {
  auto& addresses = links_->addresses;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const int error = addresses[i]->listen(tunnel);
    if (error == 0) continue;
    for (std::size_t j = 0; j < i; ++j) addresses[j]->unlisten(tunnel);
    return fail(error, "port " + links_->interface_name() + ": " + describe_tunnel(error, tunnel));
  }
  links_->tunnels.push_back(&tunnel);
  return 0;
}

void PortStack::unlisten(const wire::Tunnel& tunnel) {
  std::erase(links_->tunnels, &tunnel);
  for (const auto& address : links_->addresses) address->unlisten(tunnel);
}

int PortStack::start_capture(const std::string& path, const CaptureConfig& capture) {
  // Completes the file of the old capture first: the new one may have the same name.
  stop_capture();
  std::unique_ptr<link::PcapngWriter> writer;
  const std::string name = links_->interface_name();
  const link::PcapngOptions options{.interface_name = name,
                                    .ethernet_name = links_->hook.has_raw_packets() ? name + " Ethernet" : "",
                                    .max_bytes = capture.max_bytes,
                                    .snap_length = capture.snap_length};
  if (const int error = link::PcapngWriter::open(path, options, &writer)) return error;
  links_->stack->start_capture(std::move(writer), link::CaptureInterface::kIp);
  top_ = links_->top();
  return 0;
}

std::shared_ptr<link::PcapngWriter> PortStack::capture_writer() const { return links_->stack->writer(); }

int PortStack::stop_capture() {
  const std::shared_ptr<link::PcapngWriter> writer = links_->stack->writer();
  if (!writer) return 0;
  writer->flush();
  links_->stack->stop_capture();
  top_ = links_->top();
  return writer->error();
}

void PortStack::flush_capture() {
  if (const auto writer = links_->stack->writer()) writer->flush();
}

void PortStack::set_faults(const link::FaultPlan& plan) {
  links_->stack->set_faults(plan);
  timed_ = plan.acts();
  top_ = links_->top();
}

void PortStack::count(LinkCounters* counters) const {
  for (const auto& address : links_->addresses) add_counters(*address, counters);
  counters->add(links_->ended);
  links_->stack->count(counters);
}

void PortStack::count_rules(std::vector<link::RuleCounters>* sums) const { links_->stack->count_rules(sums); }

}  // namespace verbs::soft::host
