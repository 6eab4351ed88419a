#include "host/adapter/instruments.h"

#include <cstring>
#include <mutex>

#include "host/error.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::host {

// On all ports, or after an error on none.
int Instruments::start_capture(const std::string& path, const CaptureConfig& capture) {
  const std::lock_guard guard(core_.lock);
  const int error = contain([&] { return start_captures(path, capture); }, [](int failed) { return failed; });
  if (error != 0) {
    if (core_.engine.raw()) core_.engine.raw()->stop_capture();
    for (const auto& port : core_.engine.ports()) port->stop_capture();
  }
  return error;
}

int Instruments::start_captures(const std::string& path, const CaptureConfig& capture) {
  RawPackets* raw = core_.engine.raw();
  if (raw) raw->stop_capture();  // releases the old file
  for (std::size_t i = 0; i < core_.engine.ports().size(); ++i) {
    PortStack& port = *core_.engine.ports()[i];
    // A device with several ports writes one file for each; the first has the name that was asked for.
    const std::string file = i == 0 ? path : path + "." + std::to_string(i + 1);
    const int error = port.start_capture(file, capture);
    if (error != 0) return fail(error, "the capture file " + file + " cannot be written: " + std::strerror(error));
    if (raw) raw->start_capture(i, port.capture_writer());
  }
  return 0;
}

int Instruments::stop_capture() {
  const std::lock_guard guard(core_.lock);
  int error = 0;
  if (core_.engine.raw()) core_.engine.raw()->stop_capture();
  for (const auto& port : core_.engine.ports()) {
    const int ended = port->stop_capture();
    if (error == 0) error = ended;
  }
  return error == 0 ? 0 : fail(error, std::string("the capture ended early: ") + std::strerror(error));
}

// On all ports, or without memory on none.
void Instruments::set_faults(const link::FaultPlan& plan) {
  const std::lock_guard guard(core_.lock);
  const auto& ports = core_.engine.ports();
  RawPackets* raw = core_.engine.raw();
  std::vector<std::unique_ptr<link::FaultLink>> faults, raw_faults;
  for (const auto& port : ports) faults.push_back(port->make_faults(plan));
  if (raw) raw_faults = raw->make_faults(plan);
  for (std::size_t i = 0; i < ports.size(); ++i) ports[i]->set_faults(std::move(faults[i]));
  if (raw) raw->set_faults(std::move(raw_faults));
}

std::vector<link::RuleCounters> Instruments::rule_counters() {
  const std::lock_guard guard(core_.lock);
  std::vector<link::RuleCounters> sums;
  for (const auto& port : core_.engine.ports()) port->count_rules(&sums);
  if (core_.engine.raw()) core_.engine.raw()->count_rules(&sums);
  return sums;
}

void Instruments::report_counters(const Counter& counter) {
  const std::lock_guard guard(core_.lock);
  const LinkCounters links = core_.engine.link_counters();
  const nic::DeviceCounters counted = core_.nic().counted();
  report(counted.packets, links, counter);
  if (core_.engine.raw()) report(counted.frames, links, counter);
}

}  // namespace verbs::soft::host
