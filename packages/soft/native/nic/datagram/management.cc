#include "nic/datagram/management.h"

#include <algorithm>

#include "nic/device/packet_builder.h"

namespace verbs::soft::nic {
namespace {

constexpr std::uint32_t kManagementQkey = 0x80010000;

}  // namespace

void receive_mad(Core& core, std::uint8_t port_num, const Packet& packet) {
  const wire::Deth deth = wire::Deth::parse(packet.header(packet.info.deth));
  if (core.config.mads == nullptr || deth.qkey != kManagementQkey || deth.src_qpn != kManagementQpn) {
    ++core.counters.dropped_pkts;
    return;
  }
  core.config.mads->mad(port_num, packet.frame.path(), packet.payload(), core.now);
}

void send_mad(Core& core, std::uint8_t port_num, const wire::Path& path, std::span<const std::uint8_t> bytes) {
  Port* port = core.ports.find(port_num);
  if (port == nullptr) return;
  wire::Path from = path;
  from.destination_port = wire::kRocePort;
  from.source_port = port->source_port(path.flow_label, kManagementQpn, kManagementQpn);
  PacketBuilder packet(core, *port, from, wire::kSendOnly);
  wire::Deth{kManagementQkey, kManagementQpn}.emit(packet.deth());
  std::ranges::copy(bytes, packet.payload());
  packet.bth.dest_qpn = kManagementQpn;
  packet.bth.psn = core.mad_psn++ & 0xffffff;
  packet.send(bytes.size());
}

}  // namespace verbs::soft::nic
