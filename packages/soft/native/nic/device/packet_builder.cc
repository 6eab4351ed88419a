#include "nic/device/packet_builder.h"

#include <cstring>

#include "wire/icrc.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {

PacketBuilder::PacketBuilder(Core& core, Port& port, const wire::Path& path, std::uint8_t opcode)
    : core_(core),
      port_(port),
      path_(path),
      tunnel_(wire::opcode_info(opcode)->has(wire::kIsRequest) ? path.request_tunnel : path.response_tunnel),
      frame_(port.transmitter().reserve()),
      transport_(frame_ + wire::network_size(path, tunnel_)),
      header_size_(wire::opcode_info(opcode)->header_size) {
  bth.opcode = opcode;
}

std::uint8_t* PacketBuilder::xrceth() { return transport_ + wire::opcode_info(bth.opcode)->xrceth; }
std::uint8_t* PacketBuilder::deth() { return transport_ + wire::opcode_info(bth.opcode)->deth; }
std::uint8_t* PacketBuilder::reth() { return transport_ + wire::opcode_info(bth.opcode)->reth; }
std::uint8_t* PacketBuilder::aeth() { return transport_ + wire::opcode_info(bth.opcode)->aeth; }
std::uint8_t* PacketBuilder::atomic_eth() { return transport_ + wire::opcode_info(bth.opcode)->atomic_eth; }
std::uint8_t* PacketBuilder::atomic_ack_eth() { return transport_ + wire::opcode_info(bth.opcode)->atomic_ack_eth; }
std::uint8_t* PacketBuilder::ieth() { return transport_ + wire::opcode_info(bth.opcode)->ieth; }
std::uint8_t* PacketBuilder::feth() { return transport_ + wire::opcode_info(bth.opcode)->feth; }
std::uint8_t* PacketBuilder::imm_dt() { return transport_ + wire::opcode_info(bth.opcode)->imm_dt; }

void PacketBuilder::send(std::size_t payload_size) {
  bth.pad = static_cast<std::uint8_t>(-payload_size & 3);
  bth.emit(transport_);
  std::memset(payload() + payload_size, 0, bth.pad);
  const std::size_t transport_size = header_size_ + payload_size + bth.pad + wire::kIcrcSize;
  if (!port_.may_send(path_.sgid)) {
    ++core_.counters.link_dropped;
    return;
  }
  if (tunnel_ != nullptr && !tunnel_->open) return;  // as lost on its way
  const std::size_t network = wire::write_network(frame_, path_, tunnel_, transport_size);
  const std::size_t size = network + transport_size;
  const std::size_t skipped = tunnel_ != nullptr ? tunnel_->header_size : 0;
  wire::seal_icrc({frame_, size}, network - skipped, skipped);
  port_.transmitter().commit(size);
  ++core_.counters.sent_pkts;
  core_.counters.sent_bytes += size;
}

}  // namespace verbs::soft::nic
