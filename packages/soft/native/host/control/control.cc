// A call of the control header, for the device that it names.
#include <cerrno>
#include <utility>

#include "host/configuration/configuration.h"
#include "host/configuration/option.h"
#include "host/devices/device_report.h"
#include "host/devices/registry.h"
#include "host/devices/sysfs.h"
#include "host/error.h"
#include "host/publication/reader.h"
#include "host/publication/reasons.h"
#include "verbs_soft.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::host {

namespace {

// Calls `call(device)` for the device of that name.
template <typename Call>
int with_device(const char* name, Call&& call) {
  return verb([&] { return Registry::get().with(name, std::forward<Call>(call)); });
}

}  // namespace

}  // namespace verbs::soft::host

// The functions of verbs_soft.h.

using namespace verbs::soft::host;

extern "C" {

int verbs_soft_configure(const char* text) {
  return verbs::soft::verb([&] { return Registry::get().configure(text); });
}

int verbs_soft_add_devices(const char* text) {
  return verbs::soft::verb([&] {
    return text ? Registry::get().add_devices(text) : fail(EINVAL, "text is NULL; it must name at least one device");
  });
}

const char* verbs_soft_last_error() { return last_error().c_str(); }

const char* verbs_soft_device_name(unsigned int index) {
  Device* device = verbs::soft::verb([&] { return Registry::get().at(index); });
  return device ? device->config().name.c_str() : nullptr;
}

int verbs_soft_stats(const char* name, verbs_soft_counter counter, void* data) {
  return with_device(name, [&](Device& device) {
    device.report_counters([&](const char* key, std::uint64_t value) { counter(data, key, value); });
    return 0;
  });
}

int verbs_soft_reasons(const char* name, verbs_soft_event event, void* data) {
  return with_device(name, [&](Device& device) {
    for (const verbs::soft::nic::ReasonEvent& each : copy_reasons(device)) {
      Json json;
      write_reason(json, device.config().name, each);
      event(data, json.take().c_str());
    }
    return 0;
  });
}

int verbs_soft_processes(verbs_soft_process process, void* data) {
  return verbs::soft::verb([&] {
    read_publishers([&](pid_t pid, const std::string& report) { process(data, pid, report.c_str()); });
    return 0;
  });
}

int verbs_soft_capture_start(const char* name, const char* path, std::uint64_t max_bytes, std::uint32_t snap_length) {
  return with_device(name, [&](Device& device) {
    return device.start_capture({.path = path, .max_bytes = max_bytes, .snap_length = snap_length});
  });
}

int verbs_soft_capture_stop(const char* name) {
  return with_device(name, [&](Device& device) { return device.stop_capture(); });
}

int verbs_soft_get_faults(const char* name, std::uint64_t* seed, verbs_soft_fault_rule rule, void* data) {
  return with_device(name, [&](Device& device) {
    *seed = device.config().faults.seed;
    device.report_faults([&](const std::string& text, const verbs::soft::link::RuleCounters& counters) {
      rule(data, text.c_str(), counters.matched, counters.hits);
    });
    return 0;
  });
}

int verbs_soft_set_faults(const char* name, const char* text) {
  return with_device(name, [&](Device& device) {
    verbs::soft::link::FaultPlan plan;
    if (const std::string error = read_faults(text, &plan); !error.empty()) return fail(EINVAL, error);
    device.set_faults(plan);
    return 0;
  });
}

}  // extern "C"

// The functions of verbs_soft.h for ports.

using namespace verbs::soft;
using namespace verbs::soft::host;

namespace {

// Calls `use(device, gid)` with the address `text`.
template <typename Use>
int with_address(const char* name, const char* text, Use&& use) {
  return with_device(name, [&](Device& device) {
    const auto gid = parse_address(text);
    if (gid && is_unicast(*gid)) return use(device, *gid);
    return fail(EINVAL, std::string("\"") + text + "\" is not an IPv4 or IPv6 address of an interface");
  });
}

}  // namespace

extern "C" {

int verbs_soft_set_link(const char* name, unsigned int port, int up) {
  return with_device(name, [&](Device& device) { return device.set_link(port, up != 0); });
}

int verbs_soft_set_mtu(const char* name, unsigned int port, unsigned int bytes) {
  return with_device(name, [&](Device& device) {
    const auto mtu = parse_mtu(std::to_string(bytes));
    if (mtu) return device.set_mtu(port, *mtu);
    return fail(EINVAL, "an MTU is 256, 512, 1024, 2048 or 4096, not " + std::to_string(bytes));
  });
}

int verbs_soft_add_gid(const char* name, unsigned int port, const char* address, unsigned int* index) {
  return with_address(name, address, [&](Device& device, const wire::Gid& gid) {
    std::uint32_t found = 0;
    const int error = device.add_gid(port, gid, &found);
    if (error == 0 && index) *index = found;
    return error;
  });
}

int verbs_soft_remove_gid(const char* name, unsigned int port, const char* address) {
  return with_address(name, address,
                      [&](Device& device, const wire::Gid& gid) { return device.remove_gid(port, gid); });
}

int verbs_soft_fail(const char* name) {
  return with_device(name, [](Device& device) { return device.fail_open(); });
}

}  // extern "C"

// The function of verbs_soft.h for the files of a device in /sys.

using namespace verbs::soft::host;

extern "C" int verbs_soft_sysfs(const char* name, verbs_soft_sysfs_file file, void* data) {
  return with_device(name, [&](Device& device) {
    visit_sysfs(device, [&](const std::string& path, const std::string& content) {
      file(data, path.c_str(), content.c_str());
    });
    return 0;
  });
}
