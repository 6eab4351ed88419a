#include "host/devices/sysfs.h"

#include <net/if.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "host/ports/port_addresses.h"
#include "link/udp/host_addresses.h"
#include "machine/counter_file.h"
#include "machine/folder.h"
#include "nic/objects/ports.h"

namespace verbs::soft::host {

namespace {

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
  std::vector<nic::GidKind> kinds;  // of each of them
  wire::Gid first;                  // from which packets leave
};

void copy_gids(const nic::Port& port, PortFacts* facts) {
  facts->gids = port.gids();
  for (std::size_t i = 0; i < facts->gids.size(); ++i) facts->kinds.push_back(port.gid_kind(i));
  facts->first = port.first_gid();
}

// As the configuration has it.
PortFacts configured_port(const Device& device, int port_num) {
  PortFacts facts;
  const PortState& state = device.config().port_states.at(static_cast<std::size_t>(port_num - 1));
  nic::PortConfig config;
  // Addresses that are not configured are chosen when the device is opened: mostly the first of the loopback interface.
  // Programs look for a device with a GID before they open one.
  if (port_num == 1) config.gids = device.config().addresses;
  constexpr std::uint8_t kLoopback[] = {127, 0, 0, 1};
  if (config.gids.empty()) config.gids = {wire::Gid::from_ipv4(kLoopback)};
  if (port_num == 1 && device.config().offers_host) {
    for (const wire::Gid& gid : offered_addresses(device.config())) config.gids.push_back(gid);
  }
  config.gid_shape = device.config().gid_shape;
  config.guid = device.guid() + static_cast<std::uint64_t>(port_num - 1);
  config.active_mtu = state.mtu;
  config.up = state.up;
  config.management = true;
  const nic::Port port(config);
  port.query(&facts.attr);
  copy_gids(port, &facts);
  return facts;
}

PortFacts present_port(Device& device, int port_num) {
  Adapter* adapter = device.adapter();
  if (!adapter || adapter->core.inherited()) return configured_port(device, port_num);
  PortFacts facts;
  const std::lock_guard guard(adapter->core.lock);
  const nic::Ports& ports = adapter->core.nic().ports();
  const auto port = static_cast<std::uint8_t>(port_num);
  ports.query(port, &facts.attr);
  if (const nic::Port* found = ports.find(port)) copy_gids(*found, &facts);
  return facts;
}

// Whom the files go to, and of which folder they are asked for; nullptr for all.
struct Visit {
  const SysfsVisitor& file;
  const std::string* only = nullptr;
  bool as_configured = false;  // as if nobody had opened the device

  PortFacts port(Device& device, int port_num) const {
    return as_configured ? configured_port(device, port_num) : present_port(device, port_num);
  }

  bool in(const std::string& folder) const { return !only || *only == folder; }
  bool below(const char* folder) const { return !only || only->starts_with(folder); }
};

void visit_port(const PortFacts& facts, const std::string& folder, const link::Interfaces& interfaces,
                const Visit& visit) {
  if (visit.in(folder)) {
    const bool up = facts.attr.state == IBV_PORT_ACTIVE;
    visit.file(folder + "cap_mask", hex(facts.attr.port_cap_flags, 8));
    visit.file(folder + "lid", "0x0\n");
    visit.file(folder + "lid_mask_count", "0\n");
    visit.file(folder + "link_layer", "Ethernet\n");
    visit.file(folder + "phys_state", up ? "5: LinkUp\n" : "3: Disabled\n");
    visit.file(folder + "rate", "100 Gb/sec (4X EDR)\n");
    visit.file(folder + "sm_lid", "0x0\n");
    visit.file(folder + "sm_sl", "0\n");
    visit.file(folder + "state", up ? "4: ACTIVE\n" : "1: DOWN\n");
  }
  const std::string pkeys = folder + "pkeys/";
  if (visit.in(pkeys)) visit.file(pkeys + "0", hex(nic::kDefaultPkey, 4));
  const auto each_gid = [&](const std::string& of_gids, const auto& content) {
    if (!visit.in(of_gids)) return;
    for (std::size_t i = 0; i < facts.gids.size(); ++i)
      visit.file(of_gids + std::to_string(i), content(facts.gids[i], facts.kinds[i]));
  };
  each_gid(folder + "gids/", [](const wire::Gid& gid, nic::GidKind) { return gid_text(gid); });
  each_gid(folder + "gid_attrs/types/", [](const wire::Gid& gid, nic::GidKind kind) {
    return std::string(gid.is_zero() ? "" : kind.roce_v1 ? "IB/RoCE v1\n" : "RoCE v2\n");
  });
  // An entry that holds its place is of the interface of the first address.
  each_gid(folder + "gid_attrs/ndevs/", [&](const wire::Gid& gid, nic::GidKind kind) {
    return gid.is_zero() ? std::string() : interfaces.of(kind.holds_place ? facts.first : gid) + "\n";
  });
}

void visit_counters(Device& device, const Visit& visit) {
  // The NIC counts for the device. With one port these are the port's counters as well.
  const bool of_port = device.config().ports == 1;
  const std::string ours = of_port ? "ports/1/hw_counters/" : "hw_counters/";
  const std::string port = "ports/1/counters/";
  const bool visits_port = of_port && visit.in(port);
  if (!visit.in(ours) && !visits_port) return;
  std::map<std::string, std::uint64_t, std::less<>> counters;
  device.report_counters(
      [&](const char* name, std::uint64_t value) { counters[name] = visit.as_configured ? 0 : value; });
  if (visit.in(ours)) {
    for (const auto& [name, value] : counters) visit.file(ours + name, std::to_string(value) + "\n");
  }
  if (!visits_port) return;
  for (const machine::PortCounter& counter : machine::kPortCounters) {
    const auto found = counters.find(counter.ours);
    const std::uint64_t value = found == counters.end() ? 0 : found->second / counter.unit;
    visit.file(port + std::string(counter.name), std::to_string(value) + "\n");
  }
}

void visit_interface(Device& device, const Visit& visit) {
  const std::string interface = link::Interfaces().of(visit.port(device, 1).first);
  if (visit.in("")) visit.file("parent", interface + "\n");  // as the kernel's soft-RoCE
  const std::string net = "device/net/" + interface + "/";
  if (visit.in(net)) visit.file(net + "ifindex", std::to_string(if_nametoindex(interface.c_str())) + "\n");
}

void visit_bus(const Device& device, const Visit& visit) {
  const verbs_soft_identity& identity = device.identity();
  if (identity.pci_vendor == 0 || !visit.in("device/")) return;
  const std::string ids = hex(identity.pci_vendor, 4);
  visit.file("device/vendor", ids);
  visit.file("device/device", hex(identity.pci_device, 4));
  visit.file("device/subsystem_vendor", ids);
  visit.file("device/subsystem_device", "0x0000\n");
  visit.file("device/revision", "0x00\n");
  visit.file("device/class", "0x020700\n");  // an InfiniBand controller
  visit.file("device/irq", "0\n");
  visit.file("device/current_link_speed", "16.0 GT/s PCIe\n");
  visit.file("device/max_link_speed", "16.0 GT/s PCIe\n");
  visit.file("device/current_link_width", "16\n");
  visit.file("device/max_link_width", "16\n");
  visit.file("device/uevent", "PCI_SLOT_NAME=" + bus_place(device) + "\n");
}

void visit_some(Device& device, const Visit& visit) {
  if (visit.in("")) {
    for (const char* file : Device::kAttributes) visit.file(file, device.attribute(file));
  }
  if (visit.below("ports/")) {
    const link::Interfaces interfaces;
    for (int port_num = 1; port_num <= device.config().ports; ++port_num) {
      visit_port(visit.port(device, port_num), "ports/" + std::to_string(port_num) + "/", interfaces, visit);
    }
  }
  visit_counters(device, visit);
  const std::string node = "device/infiniband_verbs/uverbs" + std::to_string(device.number()) + "/";
  if (visit.in(node)) {
    visit.file(node + "abi_version", "1\n");
    visit.file(node + "dev", "231:" + std::to_string(192 + device.number()) + "\n");
    visit.file(node + "ibdev", device.config().name + "\n");
  }
  if (visit.in("device/")) visit.file("device/numa_node", "-1\n");
  visit_bus(device, visit);
  if (visit.in("") || visit.below("device/net/")) visit_interface(device, visit);
}

}  // namespace

std::string bus_place(const Device& device) {
  if (device.identity().pci_vendor == 0) return {};
  char slot[16];
  std::snprintf(slot, sizeof slot, "00:%02x.0", static_cast<unsigned>(device.number()) & 0x1f);
  return std::string(machine::kBusDomain) + slot;
}

void visit_sysfs(Device& device, const SysfsVisitor& visit) { visit_some(device, {.file = visit}); }

void visit_configured_sysfs(Device& device, const SysfsVisitor& visit) {
  visit_some(device, {.file = visit, .as_configured = true});
}

std::optional<std::string> read_sysfs(Device& device, const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  std::optional<std::string> found;
  const SysfsVisitor take = [&](const std::string& each, const std::string& content) {
    if (each == path) found = content;
  };
  visit_some(device, {.file = take, .only = &folder});
  return found;
}

}  // namespace verbs::soft::host
