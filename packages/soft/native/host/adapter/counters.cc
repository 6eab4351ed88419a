#include "host/adapter/counters.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

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
    if (error == EBUSY) {
      return fail(error, "the capture file " + file +
                             " is being written by another process or device: put %p (the process) and %d (the device) "
                             "into its name");
    }
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
  report_drops(counted, counter);
  if (core_.engine.raw()) report(counted.frames, links, counter);
}

namespace {

using nic::Counters;
using nic::FrameCounters;

// In the order of the members.
constexpr CounterName<Counters> kCounters[] = {
    {"sent_pkts", &Counters::sent_pkts},
    {"rcvd_pkts", &Counters::rcvd_pkts},
    {"sent_bytes", &Counters::sent_bytes},
    {"rcvd_bytes", &Counters::rcvd_bytes},
    {"duplicate_request", &Counters::duplicate_request},
    {"out_of_seq_request", &Counters::out_of_seq_request},
    {"rcvd_rnr_err", &Counters::rcvd_rnr_err},
    {"send_rnr_err", &Counters::send_rnr_err},
    {"rcvd_seq_err", &Counters::rcvd_seq_err},
    {"retry_exceeded_err", &Counters::retry_exceeded_err},
    {"retry_rnr_exceeded_err", &Counters::retry_rnr_exceeded_err},
    {"completer_retry_err", &Counters::completer_retry_err},
    {"ack_deferred", &Counters::ack_deferred},
    {"ack_timeout", &Counters::ack_timeout},
    {"retransmitted_pkts", &Counters::retransmitted_pkts},
    {"icrc_err", &Counters::icrc_err},
    {"dropped_pkts", &Counters::dropped_pkts},
    {"link_downed", &Counters::link_downed},
    {"link_dropped", &Counters::link_dropped},
    {"rdma_sends", &Counters::rdma_sends},
    {"rdma_recvs", &Counters::rdma_recvs},
    {"handed_over_pkts", &Counters::handed_over_pkts},
};
static_assert(std::size(kCounters) * sizeof(std::uint64_t) == sizeof(Counters), "a counter has no name");

constexpr CounterName<FrameCounters> kFrameCounters[] = {
    {"raw_sent_frames", &FrameCounters::raw_sent_frames},
    {"raw_sent_bytes", &FrameCounters::raw_sent_bytes},
    {"raw_rcvd_frames", &FrameCounters::raw_rcvd_frames},
    {"raw_rcvd_bytes", &FrameCounters::raw_rcvd_bytes},
    {"raw_delivered", &FrameCounters::raw_delivered},
    {"out_of_buffer", &FrameCounters::out_of_buffer},
    {"raw_not_receiving", &FrameCounters::raw_not_receiving},
    {"raw_loopback_blocked", &FrameCounters::raw_loopback_blocked},
    {"raw_malformed", &FrameCounters::raw_malformed},
};
static_assert(std::size(kFrameCounters) * sizeof(std::uint64_t) == sizeof(FrameCounters), "one has no name");

}  // namespace

void report(const nic::Counters& counters, const LinkCounters& links, const Counter& counter) {
  for (const auto& [name, member] : kCounters) counter(name, counters.*member);
  links.report(counter);
}

void report_drops(const nic::DeviceCounters& counters, const Counter& counter) {
  for (std::size_t i = 0; i < nic::kReasons; ++i) {
    const char* name = nic::info_of(static_cast<nic::Reason>(i)).name;
    if (std::string_view(name).starts_with("drop_")) counter(name, counters.reasons[i]);
  }
}

void report(const nic::FrameCounters& counters, const LinkCounters& links, const Counter& counter) {
  for (const auto& [name, member] : kFrameCounters) counter(name, counters.*member);
  links.report_switch(counter);
}

std::vector<const char*> names_in_order(bool has_frames) {
  std::vector<const char*> names;
  for (const auto& entry : kCounters) names.push_back(entry.first);
  for (const auto& entry : kFrameCounters) names.push_back(has_frames ? entry.first : nullptr);
  for (std::size_t i = 0; i < nic::kReasons; ++i) names.push_back(nic::info_of(static_cast<nic::Reason>(i)).name);
  return names;
}

}  // namespace verbs::soft::host
