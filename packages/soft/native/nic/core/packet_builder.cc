#include "nic/core/packet_builder.h"

#include <cstring>

#include "wire/icrc.h"

namespace verbs::soft::nic {

PacketBuilder::PacketBuilder(Core& core, Port& port, const wire::Path& path, wire::Operation operation)
    : core_(core),
      port_(port),
      path_(path),
      info_(*wire::opcode_info(wire::make_opcode(wire::Transport::kUd, operation))),
      frame_(port.transmitter().reserve()),
      transport_(frame_ + wire::network_size(path)) {
  bth.opcode = wire::make_opcode(wire::Transport::kUd, operation);
}

void PacketBuilder::send_referring(const MemoryPieces& memory) {
  std::uint8_t* at = payload();
  for (const iovec& piece : memory.all()) {
    const link::Reference reference{reinterpret_cast<std::uintptr_t>(piece.iov_base), piece.iov_len};
    std::memcpy(at, &reference, sizeof reference);
    at += sizeof reference;
  }
  send(static_cast<std::size_t>(at - payload()), link::FrameForm::kReferring);
}

void PacketBuilder::lose() {
  ++core_.counters.link_dropped;
  ReasonEvent event{.why = {Reason::kDropPortDown, {core_.ports.number_of(port_)}}, .place = Place::kDeparture};
  event.peer = path_.dgid;
  event.peer_qp = bth.dest_qpn;
  core_.explain(event);
}

void PacketBuilder::send(std::size_t payload_size, link::FrameForm form) {
  bth.pad = static_cast<std::uint8_t>(-payload_size & 3);
  bth.emit(transport_);
  std::uint8_t* end = payload() + payload_size;
  for (std::uint8_t i = 0; i < bth.pad; ++i) end[i] = 0;
  const std::size_t transport_size = info_.header_size + payload_size + bth.pad + wire::kIcrcSize;
  if (!port_.may_send(path_.sgid)) {
    return lose();
  }
  const auto network = static_cast<std::size_t>(transport_ - frame_);
  const std::size_t size = network + transport_size;
  if (tunnel_ != nullptr) {
    if (!tunnel_->open) return;  // like a packet that is lost on its way
    wire::write_network(frame_, path_, tunnel_, transport_size);
    wire::seal_icrc({frame_, size}, network - tunnel_->header_size, tunnel_->header_size);
    port_.transmitter().commit(size);
  } else {
    if (headers_ != nullptr) {
      headers_->write(frame_, transport_size);
    } else {
      wire::write_network(frame_, path_, transport_size);
    }
    if (form == link::FrameForm::kReferring) {
      port_.transmitter().commit_referring({frame_, size});
    } else {
      port_.transmitter().commit_unsealed({frame_, size});
    }
  }
  ++core_.counters.sent_pkts;
  core_.counters.sent_bytes += size;
}

}  // namespace verbs::soft::nic
