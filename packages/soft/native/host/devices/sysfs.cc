#include "host/devices/sysfs.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "nic/ports/port.h"

namespace verbs::soft::host {

namespace {

struct InterfacesFreer {
  void operator()(ifaddrs* first) const { freeifaddrs(first); }
};

// The machine's addresses and the network interfaces that have them.
std::vector<std::pair<wire::Gid, std::string>> interface_addresses() {
  std::vector<std::pair<wire::Gid, std::string>> found;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return found;
  const std::unique_ptr<ifaddrs, InterfacesFreer> all(first);
  for (const ifaddrs* each = first; each; each = each->ifa_next) {
    if (!each->ifa_addr) continue;
    if (each->ifa_addr->sa_family == AF_INET) {
      std::uint8_t bytes[4];
      std::memcpy(bytes, &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr, sizeof bytes);
      found.emplace_back(wire::Gid::from_ipv4(bytes), each->ifa_name);
    } else if (each->ifa_addr->sa_family == AF_INET6) {
      found.emplace_back(
          wire::Gid::from_bytes(reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr.s6_addr),
          each->ifa_name);
    }
  }
  return found;
}

// The network interface of an address. All of 127.0.0.0/8 is the loopback interface's, and so is what no interface has.
class Interfaces {
 public:
  const std::string& of(const wire::Gid& gid) const {
    static const std::string kLoopback = "lo";
    for (const auto& [address, name] : addresses_) {
      if (address == gid) return name;
    }
    return kLoopback;
  }

 private:
  std::vector<std::pair<wire::Gid, std::string>> addresses_ = interface_addresses();
};

std::string hex(unsigned value, int digits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%0*x\n", digits, value);
  return text;
}

std::string gid_text(const wire::Gid& gid) {
  std::string text;
  for (std::size_t i = 0; i < gid.bytes.size(); i += 2) {
    char group[8];
    std::snprintf(group, sizeof group, "%s%02x%02x", i == 0 ? "" : ":", gid.bytes[i], gid.bytes[i + 1]);
    text += group;
  }
  return text + "\n";
}

struct PortFacts {
  ibv_port_attr attr{};
  std::vector<wire::Gid> gids;
};

PortFacts port_facts(Device& device, int port_num) {
  PortFacts facts;
  if (Adapter* adapter = device.adapter(); adapter && !adapter->core.inherited()) {
    const std::lock_guard guard(adapter->core.lock);
    const nic::Ports& ports = adapter->core.nic().ports();
    const auto port = static_cast<std::uint8_t>(port_num);
    ports.query(port, &facts.attr);
    wire::Gid gid;
    for (int index = 0; ports.query_gid(port, index, &gid) == 0; ++index) facts.gids.push_back(gid);
    return facts;
  }
  const PortState& state = device.config().port_states.at(static_cast<std::size_t>(port_num - 1));
  nic::PortConfig config;
  if (port_num == 1) config.gids = device.config().addresses;  // the others' are chosen when the device is opened
  config.active_mtu = state.mtu;
  config.up = state.up;
  config.management = true;
  const nic::Port port(config);
  port.query(&facts.attr);
  facts.gids = port.gids();
  return facts;
}

void visit_port(const PortFacts& facts, const std::string& folder, const Interfaces& interfaces,
                const SysfsVisitor& visit) {
  const bool up = facts.attr.state == IBV_PORT_ACTIVE;
  visit(folder + "cap_mask", hex(facts.attr.port_cap_flags, 8));
  visit(folder + "lid", "0x0\n");
  visit(folder + "lid_mask_count", "0\n");
  visit(folder + "link_layer", "Ethernet\n");
  visit(folder + "phys_state", up ? "5: LinkUp\n" : "3: Disabled\n");
  visit(folder + "rate", "100 Gb/sec (4X EDR)\n");
  visit(folder + "sm_lid", "0x0\n");
  visit(folder + "sm_sl", "0\n");
  visit(folder + "state", up ? "4: ACTIVE\n" : "1: DOWN\n");
  visit(folder + "pkeys/0", hex(nic::kDefaultPkey, 4));
  for (std::size_t i = 0; i < facts.gids.size(); ++i) {
    const wire::Gid& gid = facts.gids[i];
    const std::string index = std::to_string(i);
    visit(folder + "gids/" + index, gid_text(gid));
    visit(folder + "gid_attrs/types/" + index, gid.is_zero() ? "" : "RoCE v2\n");
    visit(folder + "gid_attrs/ndevs/" + index, gid.is_zero() ? "" : interfaces.of(gid) + "\n");
  }
}

// The counters that IBTA gives every port, from ours.
void visit_port_counters(const std::map<std::string, std::uint64_t>& counters, const std::string& folder,
                         const SysfsVisitor& visit) {
  const auto value = [&](const char* name) {
    const auto found = counters.find(name);
    return found == counters.end() ? 0 : found->second;
  };
  const auto show = [&](const char* name, std::uint64_t count) { visit(folder + name, std::to_string(count) + "\n"); };
  constexpr std::uint64_t kWord = 4;  // of "data"
  show("port_xmit_data", value("sent_bytes") / kWord);
  show("port_rcv_data", value("rcvd_bytes") / kWord);
  show("port_xmit_packets", value("sent_pkts"));
  show("port_rcv_packets", value("rcvd_pkts"));
  show("unicast_xmit_packets", value("sent_pkts"));
  show("unicast_rcv_packets", value("rcvd_pkts"));
  show("port_rcv_errors", value("icrc_err"));
  show("port_xmit_discards", value("link_dropped"));
  show("link_downed", value("link_downed"));
}

}  // namespace

void visit_sysfs(Device& device, const SysfsVisitor& visit) {
  for (const char* file : Device::kAttributes) visit(file, device.attribute(file));
  const Interfaces interfaces;
  const int ports = device.config().ports;
  std::string interface;
  for (int port_num = 1; port_num <= ports; ++port_num) {
    const PortFacts facts = port_facts(device, port_num);
    visit_port(facts, "ports/" + std::to_string(port_num) + "/", interfaces, visit);
    if (port_num == 1) interface = interfaces.of(facts.gids.front());
  }
  std::map<std::string, std::uint64_t> counters;
  device.report_counters([&](const char* name, std::uint64_t value) { counters[name] = value; });
  // The NIC counts for the device. With one port these are the port's counters as well.
  const std::string port = ports == 1 ? "ports/1/" : "";
  for (const auto& [name, value] : counters) visit(port + "hw_counters/" + name, std::to_string(value) + "\n");
  if (ports == 1) visit_port_counters(counters, "ports/1/counters/", visit);
  visit("parent", interface + "\n");  // as the kernel's soft-RoCE
  const std::string node = "device/infiniband_verbs/uverbs" + std::to_string(device.number()) + "/";
  visit(node + "abi_version", "1\n");
  visit(node + "dev", "231:" + std::to_string(192 + device.number()) + "\n");
  visit(node + "ibdev", device.config().name + "\n");
  visit("device/numa_node", "-1\n");
  visit("device/net/" + interface + "/ifindex", std::to_string(if_nametoindex(interface.c_str())) + "\n");
}

}  // namespace verbs::soft::host
