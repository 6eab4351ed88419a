#include "nic/core/core.h"

#include <utility>

namespace verbs::soft::nic {

Core::Core(NicConfig nic_config, EventSink& sink)
    : config(std::move(nic_config)),
      events(sink),
      all_counters(config.counters != nullptr ? *config.counters : own_counters),
      counted_before(all_counters),
      counters(all_counters.packets),
      frame_counters(all_counters.frames),
      ports(config.ports, sink, counters),
      pds(config.limits),
      cqs(config.limits, now),
      ahs(config.limits, ports),
      qps(kFirstQpn + (config.numbers != nullptr ? config.numbers->base() : 0),
          static_cast<std::uint32_t>(config.limits.max_qp)),
      srqs(1, static_cast<std::uint32_t>(config.limits.max_srq)),
      mrs(config.limits, config.rules, ports, config.offered),
      mws(config.limits, mrs),
      device_memory(static_cast<std::size_t>(config.limits.max_dm_size)),
      multicast(config.limits) {}

void Core::explain(ReasonEvent event) {
  const auto index = static_cast<std::size_t>(event.why.reason);
  event.count = ++all_counters.reasons[index] - counted_before.reasons[index];
  event.time = now;
  if (event.place == Place::kArrival && event.qp == 0 && !event.peer.is_zero()) {
    const auto is_same = [&](const ReasonEvent& other) {
      return other.why.reason == event.why.reason && other.peer == event.peer;
    };
    if (reasons.find_last(is_same) == nullptr) event.new_peer = ++refused_peers;
  }
  events.explained(event);
  reasons.add(event);
}

}  // namespace verbs::soft::nic
