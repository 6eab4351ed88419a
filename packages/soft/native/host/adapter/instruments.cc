#include "host/adapter/instruments.h"

#include <cstring>
#include <mutex>

#include "host/error.h"

namespace verbs::soft::host {

int Instruments::start_capture(const std::string& path, const CaptureConfig& capture) {
  const std::lock_guard guard(core_.lock);
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

void Instruments::set_faults(const link::FaultPlan& plan) {
  const std::lock_guard guard(core_.lock);
  for (const auto& port : core_.engine.ports()) port->set_faults(plan);
  if (core_.engine.raw()) core_.engine.raw()->set_faults(plan);
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
  LinkCounters links;
  for (const auto& port : core_.engine.ports()) port->count(&links);
  if (core_.engine.raw()) core_.engine.raw()->count(&links);
  report(core_.nic().counters(), links, counter);
  if (core_.engine.raw()) report(core_.nic().frame_counters(), links, counter);
}

}  // namespace verbs::soft::host
