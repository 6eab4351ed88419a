#include "nic/device/core.h"

namespace verbs::soft::nic {
namespace {

constexpr std::uint32_t kMaxXrcds = 1u << 16;  // ibv_device_attr has no such limit

}  // namespace

Core::Core(NicConfig nic_config, EventSink& sink)
    : config(std::move(nic_config)),
      events(sink),
      pds(1, static_cast<std::uint32_t>(config.limits.max_pd)),
      cqs(1, static_cast<std::uint32_t>(config.limits.max_cq)),
      ahs(1, static_cast<std::uint32_t>(config.limits.max_ah)),
      qps(kFirstQpn, static_cast<std::uint32_t>(config.limits.max_qp)),
      srqs(1, static_cast<std::uint32_t>(config.limits.max_srq)),
      xrcds(1, kMaxXrcds),
      mrs(config.limits),
      mws(config.limits),
      device_memory(static_cast<std::size_t>(config.limits.max_dm_size)),
      multicast(config.limits) {
  for (PortConfig& port : config.ports) {
    ports.emplace_back(port.transmitter, port.gids, port.max_mtu, port.active_mtu, port.frames).set_up(port.up);
  }
}

}  // namespace verbs::soft::nic
