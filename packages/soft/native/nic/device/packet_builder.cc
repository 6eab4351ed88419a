#include "nic/device/packet_builder.h"

#include <cstring>

#include "wire/icrc.h"

namespace verbs::soft::nic {
namespace {

const wire::Tunnel* tunnel_of(const Qp& qp, std::uint8_t opcode) {
  return qp.send_tunnel(wire::opcode_info(opcode)->has(wire::kIsRequest));
}

}  // namespace

PacketBuilder::PacketBuilder(Core& core, Port& port, const wire::Path& path, const wire::Tunnel* tunnel,
                             std::uint8_t opcode)
    : core_(core),
      port_(port),
      path_(path),
      info_(*wire::opcode_info(opcode)),
      tunnel_(tunnel),
      frame_(port.transmitter().reserve()),
      transport_(frame_ + wire::network_size(path, tunnel)) {
  bth.opcode = opcode;
}

PacketBuilder::PacketBuilder(Core& core, const Qp& qp, wire::Operation operation)
    : PacketBuilder(core, core.port_of(qp), qp.path, tunnel_of(qp, wire::make_opcode(qp.transport, operation)),
                    wire::make_opcode(qp.transport, operation)) {
  bth.dest_qpn = qp.attr.dest_qp_num;
}

PacketBuilder::PacketBuilder(Core& core, Port& port, const wire::Path& path, wire::Operation operation)
    : PacketBuilder(core, port, path, nullptr, wire::make_opcode(wire::Transport::kUd, operation)) {}

void PacketBuilder::send(std::size_t payload_size) {
  bth.pad = static_cast<std::uint8_t>(-payload_size & 3);
  bth.emit(transport_);
  std::memset(payload() + payload_size, 0, bth.pad);
  const std::size_t transport_size = info_.header_size + payload_size + bth.pad + wire::kIcrcSize;
  if (!port_.may_send(path_.sgid)) {
    ++core_.counters.link_dropped;
    return;
  }
  if (tunnel_ != nullptr && !tunnel_->open) return;  // like a packet that is lost on its way
  const std::size_t network = wire::write_network(frame_, path_, tunnel_, transport_size);
  const std::size_t size = network + transport_size;
  if (tunnel_ == nullptr) {
    port_.transmitter().commit_unsealed({frame_, size});
  } else {
    wire::seal_icrc({frame_, size}, network - tunnel_->header_size, tunnel_->header_size);
    port_.transmitter().commit(size);
  }
  ++core_.counters.sent_pkts;
  core_.counters.sent_bytes += size;
}

}  // namespace verbs::soft::nic
