#include "host/devices/machine_files.h"

#include <cstdint>
#include <map>
#include <string>

#include "host/devices/sysfs.h"
#include "host/machine/machine.h"
#include "machine/folder.h"

namespace verbs::soft::host {

namespace {

using Kind = TreeFile::Kind;
using Contents = std::map<std::string, std::string>;  // by path: "soft0/ports/1/state"

constexpr const char* kClass = "/sys/class/infiniband/";
constexpr const char* kVerbsClass = "/sys/class/infiniband_verbs/";
constexpr std::string_view kOfParent = "device/";

// The first 64 bytes of the configuration space: lspci(8) wants to see them.
std::string configuration_space(const verbs_soft_identity& identity) {
  std::string space(64, '\0');
  const auto put = [&](std::size_t at, std::uint16_t value) {
    space[at] = static_cast<char>(value & 0xff);
    space[at + 1] = static_cast<char>(value >> 8);
  };
  put(0x00, identity.pci_vendor);
  put(0x02, identity.pci_device);
  put(0x0a, 0x0207);
  put(0x2c, identity.pci_vendor);
  return space;
}

// The files of one device. On a bus, its parent has a folder of its own with the device in it; else the parent's files
// are in the device's folder.
class DeviceFiles {
 public:
  DeviceFiles(Device& device, std::vector<TreeFile>* files)
      : device_(device), name_(device.config().name), bus_place_(bus_place(device)), files_(*files) {
    const std::string place = std::string(machine::kBusDevices) + "/" + bus_place_;
    folder_ = (bus_place_.empty() ? std::string(machine::kVirtualDevices) : place + "/infiniband") + "/" + name_;
    parent_ = bus_place_.empty() ? folder_ + "/device" : place;
  }

  void add(Contents* contents) {
    const std::string up = bus_place_.empty() ? "../../../../" : "../../../../../";
    link(kClass + name_, "../.." + folder_.substr(sizeof "/sys" - 1));
    link(folder_ + "/subsystem", up + "class/infiniband");
    if (!bus_place_.empty()) add_bus();
    visit_configured_sysfs(device_, [&](const std::string& path, const std::string& content) {
      const bool of_parent = path.starts_with(kOfParent);
      files_.push_back({(of_parent ? parent_ + "/" + path.substr(kOfParent.size()) : folder_ + "/" + path), content});
      if (!of_parent) (*contents)[name_ + "/" + path] = content;
    });
    add_node();
  }

 private:
  void link(std::string name, std::string target) {
    files_.push_back({std::move(name), std::move(target), Kind::kLink});
  }

  void add_bus() {
    link("/sys/bus/pci/devices/" + bus_place_, "../../../devices/pci5f5f:00/" + bus_place_);
    link(folder_ + "/device", "../../../" + bus_place_);
    link(parent_ + "/subsystem", "../../../bus/pci");
    files_.push_back({parent_ + "/config", configuration_space(device_.identity())});
    std::string resources;
    for (int i = 0; i < 13; ++i) resources += "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
    files_.push_back({parent_ + "/resource", resources});
  }

  void add_node() {
    const std::string node = "uverbs" + std::to_string(device_.number());
    const std::string folder = parent_ + "/infiniband_verbs/" + node;
    files_.push_back({"/dev/infiniband/" + node, "", Kind::kNode});
    link(kVerbsClass + node, "../.." + folder.substr(sizeof "/sys" - 1));
    link(folder + "/device", bus_place_.empty() ? "../../../device" : "../../../" + bus_place_);
  }

  Device& device_;
  std::string name_, bus_place_, folder_, parent_;
  std::vector<TreeFile>& files_;
};

bool is_counter(const std::string& path) { return path.find("counters/") != std::string::npos; }

// What the machine has of the present list of devices.
struct Made {
  std::string root;  // empty: nothing
  Contents configured;
};

Made make_files(const std::vector<Device*>& devices) {
  std::vector<TreeFile> files = {{kVerbsClass + std::string("abi_version"), "6\n"},
                                 {"/sys/class/infiniband_mad/abi_version", "5\n"},
                                 {"/dev/infiniband/rdma_cm", "", Kind::kNode}};
  std::vector<std::string> names;
  Made made;
  for (Device* device : devices) {
    DeviceFiles(*device, &files).add(&made.configured);
    names.push_back(device->config().name);
  }
  made.root = make_tree(std::move(files), names);
  return made;
}

}  // namespace

void show_devices(const std::vector<Device*>& devices, bool is_new_list) {
  static auto* made = new Made;  // outlives every thread
  if (is_new_list) *made = make_files(devices);
  if (made->root.empty()) return;
  std::vector<std::pair<std::string, std::string>> different;
  for (Device* device : devices) {
    visit_sysfs(*device, [&](const std::string& path, const std::string& content) {
      if (path.starts_with(kOfParent) || is_counter(path)) return;
      const std::string whole = device->config().name + "/" + path;
      const auto known = made->configured.find(whole);
      if (known == made->configured.end() || known->second != content) different.emplace_back(whole, content);
    });
  }
  show_live_files(made->root, different);
}

}  // namespace verbs::soft::host
