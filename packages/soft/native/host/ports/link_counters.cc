#include "host/ports/link_counters.h"

namespace verbs::soft::host {
namespace {

template <typename Counters>
struct Name {
  const char* name;
  std::uint64_t Counters::* member;
};

// Every counter of a link has a name in its list: without one this does not compile.
template <typename Counters, std::size_t n>
constexpr bool names_all(const CounterName<Counters> (&)[n], std::size_t unnamed = 0) {
  return (n + unnamed) * sizeof(std::uint64_t) == sizeof(Counters);
}

constexpr CounterName<link::UdpCounters> kUdp[] = {
    {"link_udp_sent", &link::UdpCounters::sent},
    {"link_udp_received", &link::UdpCounters::received},
    {"link_udp_send_dropped", &link::UdpCounters::send_dropped},
    {"link_udp_receive_dropped", &link::UdpCounters::receive_dropped},
    {"link_udp_wrong_source_port", &link::UdpCounters::wrong_source_port},
};
static_assert(names_all(kUdp), "a counter has no name");

constexpr CounterName<link::ShmCounters> kShm[] = {
    {"link_shm_sent", &link::ShmCounters::sent},           {"link_shm_received", &link::ShmCounters::received},
    {"link_shm_dropped", &link::ShmCounters::dropped},     {"link_shm_rejected", &link::ShmCounters::rejected},
    {"link_shm_pulled", &link::ShmCounters::pulled},       {"link_shm_mapped", &link::ShmCounters::mapped},
    {"link_shm_unpulled", &link::ShmCounters::unpulled},   {"link_shm_broken", &link::ShmCounters::broken},
    {"link_shm_forwarded", &link::ShmCounters::forwarded}, {"link_shm_unowned", &link::ShmCounters::unowned},
};
static_assert(names_all(kShm), "a counter has no name");

constexpr CounterName<link::InprocCounters> kInproc[] = {
    {"link_process_sent", &link::InprocCounters::sent},
    {"link_process_received", &link::InprocCounters::received},
    {"link_process_overflow", &link::InprocCounters::overflow},
    {"link_process_unreachable", &link::InprocCounters::unreachable},
};
static_assert(names_all(kInproc), "a counter has no name");

constexpr CounterName<link::FaultCounters> kFault[] = {
    {"fault_dropped", &link::FaultCounters::dropped},     {"fault_duplicated", &link::FaultCounters::duplicated},
    {"fault_reordered", &link::FaultCounters::reordered}, {"fault_corrupted", &link::FaultCounters::corrupted},
    {"fault_truncated", &link::FaultCounters::truncated}, {"fault_delayed", &link::FaultCounters::delayed},
    {"fault_overflow", &link::FaultCounters::overflow},
};
// `passed` is what is left of the frames, for the plan's own tests.
static_assert(names_all(kFault, 1), "a counter has no name");

constexpr CounterName<link::SwitchCounters> kSwitch[] = {
    {"link_switch_sent", &link::SwitchCounters::sent},
    {"link_switch_received", &link::SwitchCounters::received},
    {"link_switch_overflow", &link::SwitchCounters::overflow},
    {"link_switch_filtered", &link::SwitchCounters::filtered},
};
static_assert(names_all(kSwitch), "a counter has no name");

constexpr CounterName<link::TapCounters> kTap[] = {
    {"link_tap_sent", &link::TapCounters::sent},
    {"link_tap_received", &link::TapCounters::received},
    {"link_tap_dropped", &link::TapCounters::dropped},
};
static_assert(names_all(kTap), "a counter has no name");

template <typename Counters, std::size_t n>
void report_all(const Counters& sum, const CounterName<Counters> (&names)[n], const LinkCounters::Counter& counter) {
  for (const auto& [name, member] : names) counter(name, sum.*member);
}

}  // namespace

void LinkCounters::report(const Counter& counter) const {
  const auto& [udp, process, shm, faults, ethernet, tap] = sums_;
  counter("send_err", udp.send_dropped + process.overflow + process.unreachable + shm.dropped);
  report_all(udp, kUdp, counter);
  report_all(shm, kShm, counter);
  report_all(process, kInproc, counter);
  report_all(faults, kFault, counter);
}

void LinkCounters::report_switch(const Counter& counter) const {
  report_all(std::get<link::SwitchCounters>(sums_), kSwitch, counter);
  report_all(std::get<link::TapCounters>(sums_), kTap, counter);
}

}  // namespace verbs::soft::host
