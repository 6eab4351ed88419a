#include "host/devices/device.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "host/error.h"
#include "machine/folder.h"
#include "verbs_soft_boundary.h"
#include "wire/gid.h"

namespace verbs::soft::host {

namespace {

void copy_name(char* to, std::size_t size, const std::string& text) { std::snprintf(to, size, "%s", text.c_str()); }

// This run of the kernel. Empty if that cannot be read.
std::string boot_id() {
  char text[64];
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text);
  if (fd >= 0) close(fd);
  return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

// What makes devices of two processes one: the network and the user, who share its addresses, its name and configured
// addresses.
std::uint64_t guid_of(const DeviceConfig& config) {
  struct stat network{};
  if (stat("/proc/self/ns/net", &network) != 0) network = {};
  std::string text = boot_id() + "/" + std::to_string(network.st_ino) + "/" + std::to_string(geteuid()) + "/" +
                     config.kind + "/" + config.name;
  for (const wire::Gid& gid : config.addresses) text.append(reinterpret_cast<const char*>(gid.bytes.data()), 16);
  return wire::guid_base(machine::hash(text)) | 1;
}

}  // namespace

std::string guid_text(std::uint64_t guid) {
  char text[24];
  std::snprintf(text, sizeof text, "%04x:%04x:%04x:%04x\n", static_cast<unsigned>(guid >> 48 & 0xffff),
                static_cast<unsigned>(guid >> 32 & 0xffff), static_cast<unsigned>(guid >> 16 & 0xffff),
                static_cast<unsigned>(guid & 0xffff));
  return text;
}

Device::Device(DeviceConfig config, const verbs_soft_model* model, std::uint64_t instance, int number)
    : config_(std::move(config)), model_(model), guid_(guid_of(config_)), number_(number) {
  set_mac(instance);
  verbs_device_.ports = config_.ports;
  ibv_device& device = verbs_device_.ibv;
  device.node_type = IBV_NODE_CA;
  device.transport_type = IBV_TRANSPORT_IB;
  copy_name(device.name, sizeof device.name, config_.name);
  // The names that the kernel would give. `verbs run` makes programs find something there.
  const std::string uverbs = "uverbs" + std::to_string(number_);
  copy_name(device.dev_name, sizeof device.dev_name, uverbs);
  copy_name(device.dev_path, sizeof device.dev_path, "/sys/class/infiniband_verbs/" + uverbs);
  copy_name(device.ibdev_path, sizeof device.ibdev_path, "/sys/class/infiniband/" + config_.name);
  identity_ = {.vendor_id = 0xffffff,  // as the kernel's soft-RoCE: no vendor's
               .vendor_part_id = 0,
               .hw_ver = 0,
               .fw_ver = "1.0.0",
               .board_id = "VERBS_SOFT",
               .hca_type = "verbs-soft",
               .pci_vendor = 0,
               .pci_device = 0};
}

// The Ethernet addresses of the ports contain some of the process's random bits, and the device's number: an Ethernet
// switch tells processes apart by them. The last byte is the port's number.
void Device::set_mac(std::uint64_t instance) {
  const auto byte = [instance](int from_end) { return static_cast<std::uint8_t>(instance >> 8 * from_end); };
  constexpr std::uint8_t kLocal = 2, kGroup = 1;
  verbs_device_.mac = {static_cast<std::uint8_t>((byte(6) | kLocal) & ~kGroup), byte(5), byte(4), byte(1), byte(0), 1};
}

int Device::init() {
  if (!model_ || !model_->init_device) return 0;
  const int error = model_->init_device(model_->data, ibv(), &identity_);
  if (error == 0) return 0;
  std::string options;
  for (const auto& [name, value] : config_.model_options)
    options += (options.empty() ? ": " : ", ") + name + "=" + value;
  return fail(error, "device " + config_.name + ": its model of kind " + config_.kind +
                         " rejects it: " + std::strerror(error) + options);
}

const char* Device::option(const std::string& key) const {
  const char* value = nullptr;
  for (const auto& [name, text] : config_.model_options) {
    if (name == key) value = text.c_str();  // as for every option, the last value counts
  }
  return value;
}

std::string Device::attribute(const std::string& file) const {
  if (file == "board_id") return std::string(identity_.board_id) + "\n";
  if (file == "fw_ver") return std::string(identity_.fw_ver) + "\n";
  if (file == "hca_type") return std::string(identity_.hca_type) + "\n";
  if (file == "hw_rev") return std::to_string(identity_.hw_ver) + "\n";
  if (file == "node_guid" || file == "sys_image_guid") return guid_text(guid_);
  if (file == "node_desc") return config_.name + "\n";
  if (file == "node_type") return "1: CA\n";
  return {};
}

int Device::open(Adapter** adapter) {
  if (!adapter_) {
    const FrameHook hook{model_, ibv()};
    if (const int error = Adapter::open(config_, guid_, hook, followed_counters(), &adapter_)) return error;
    changed_ = true;
  }
  ++open_count_;
  *adapter = adapter_.get();
  return 0;
}

void Device::close() {
  if (--open_count_ > 0) return;
  // Without memory for their names the counts are lost.
  const auto keep = [this](const char* name, std::uint64_t value) { closed_counters_[name] += value; };
  contain([&] { return adapter_->instruments.report_counters(keep), 0; }, [](int) { return 0; });
  adapter_.reset();
  changed_ = true;
}

// Those that the model has made until now.
std::vector<FollowedCounter> Device::followed_counters() const {
  std::vector<FollowedCounter> all;
  for (const auto& [name, value] : model_counters_) all.push_back({name.c_str(), &value});
  return all;
}

int Device::start_capture(CaptureConfig capture) {
  int error = 0;
  if (adapter_) error = adapter_->instruments.start_capture(capture_path(capture.path, config_.name), capture);
  if (error == 0) config_.capture = std::move(capture);
  return error;
}

int Device::stop_capture() {
  config_.capture = {};
  return adapter_ ? adapter_->instruments.stop_capture() : 0;
}

void Device::set_faults(const link::FaultPlan& plan) {
  link::FaultPlan kept = plan;
  if (adapter_) adapter_->instruments.set_faults(plan);
  config_.faults = std::move(kept);
}

void Device::report_faults(const Rule& rule) {
  std::vector<link::RuleCounters> counters;
  if (adapter_) counters = adapter_->instruments.rule_counters();
  counters.resize(1 + config_.faults.rules.size());
  if (config_.faults.FaultRule::acts()) rule(config_.faults.text, counters[0]);
  for (std::size_t i = 0; i < config_.faults.rules.size(); ++i) rule(config_.faults.rules[i].text, counters[i + 1]);
}

void Device::report_counters(const Counter& counter) {
  std::map<std::string, std::uint64_t> sums = closed_counters_;
  const auto name_it = [&](const char* name, std::uint64_t) { sums[name]; };
  host::report(nic::Counters{}, {}, name_it);
  if (has_raw_packets()) host::report(nic::FrameCounters{}, {}, name_it);
  const auto add = [&](const char* name, std::uint64_t value) { sums[name] += value; };
  const auto add_models = [&] {
    for (const auto& [name, value] : model_counters_) add(name.c_str(), value);
  };
  if (adapter_) {
    adapter_->instruments.report_counters(add);
    const std::lock_guard guard(adapter_->core.lock);
    add_models();
  } else {
    add_models();
  }
  for (const auto& [name, value] : sums) counter(name.c_str(), value);
}

int Device::check_port(unsigned port_num) const {
  if (port_num >= 1 && port_num <= config_.port_states.size()) return 0;
  return fail(EINVAL, "device " + config_.name + " has no port " + std::to_string(port_num) + "; its ports are 1 to " +
                          std::to_string(config_.port_states.size()));
}

int Device::check_open() const {
  if (adapter_) return 0;
  return fail(ENOTCONN, "device " + config_.name + " is not open; open it first, or put addr= into its configuration");
}

// Calls `change` for the port, or for all of them.
template <typename Change>
int Device::change_ports(unsigned port_num, Change&& change) {
  const unsigned first = port_num == 0 ? 1 : port_num;
  const unsigned last = port_num == 0 ? static_cast<unsigned>(config_.ports) : port_num;
  int error = check_port(first);
  for (unsigned port = first; error == 0 && port <= last; ++port) {
    error = change(static_cast<std::uint8_t>(port), &config_.port_states[port - 1]);
  }
  return error;
}

int Device::set_link(unsigned port_num, bool up) {
  changed_ = true;
  return change_ports(port_num, [&](std::uint8_t port, PortState* state) {
    const int error = adapter_ ? adapter_->port_control.set_link(port, up) : 0;
    if (error == 0) state->up = up;
    return error;
  });
}

int Device::set_mtu(unsigned port_num, ibv_mtu mtu) {
  return change_ports(port_num, [&](std::uint8_t port, PortState* state) {
    const int error = adapter_ ? adapter_->port_control.set_mtu(port, mtu) : 0;
    if (error == 0) state->mtu = mtu;
    return error;
  });
}

int Device::add_gid(unsigned port_num, const wire::Gid& gid, std::uint32_t* index) {
  changed_ = true;
  if (const int error = check_port(port_num)) return error;
  if (const int error = check_open()) return error;
  return adapter_->port_control.add_gid(static_cast<std::uint8_t>(port_num), gid, index);
}

int Device::remove_gid(unsigned port_num, const wire::Gid& gid) {
  changed_ = true;
  if (const int error = check_port(port_num)) return error;
  if (const int error = check_open()) return error;
  return adapter_->port_control.remove_gid(static_cast<std::uint8_t>(port_num), gid);
}

int Device::fail_open() {
  if (const int error = check_open()) return error;
  return adapter_->port_control.fail_device();
}

void Device::forget_parent(std::uint64_t instance) {
  set_mac(instance);
  changed_ = true;
  closed_counters_.clear();
  for (auto& [name, value] : model_counters_) value = 0;
  open_count_ = 0;
  if (!adapter_) return;
  adapter_->core.mark_inherited();
  // Not destroyed: that would join a thread that does not exist here and take a lock in an unknown state. Contexts of
  // the parent still point to the adapter.
  [[maybe_unused]] const Adapter* left_behind = adapter_.release();
}

}  // namespace verbs::soft::host
