// The functions of verbs_soft.h.
#include <cerrno>

#include "host/control/with_device.h"
#include "host/devices/registry.h"
#include "host/error.h"
#include "host/publication/reader.h"
#include "verbs_soft.h"
#include "verbs_soft_boundary.h"

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
