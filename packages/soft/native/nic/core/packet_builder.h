// Builds one frame in a transmitter's buffer: network headers, tunnel header, BTH, extended headers, payload, pad and
// ICRC.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nic/core/core.h"
#include "nic/core/payload.h"
#include "wire/frame.h"
#include "wire/headers.h"
#include "wire/opcode.h"
#include "wire/tunnel.h"

namespace verbs::soft::nic {

// Of a packet of a connected QP without a tunnel.
inline std::size_t packet_size(const Qp& qp, const wire::OpcodeInfo& info, std::size_t payload) {
  return qp.headers.size() + info.header_size + ((payload + 3) & ~std::size_t{3}) + wire::kIcrcSize;
}

class PacketBuilder {
 public:
  // A packet of a connected QP to its peer, through the QP's tunnel if it has one.
  PacketBuilder(Core& core, const Qp& qp, wire::Operation operation)
      : core_(core),
        port_(core.port_of(qp)),
        path_(qp.path),
        info_(*wire::opcode_info(wire::make_opcode(qp.transport, operation))),
        headers_(&qp.headers),
        tunnel_(qp.send_tunnel(info_.has(wire::kIsRequest))),
        frame_(port_.transmitter().reserve()),
        transport_(frame_ + (tunnel_ != nullptr ? wire::network_size(path_, tunnel_) : headers_->size())) {
    bth.opcode = wire::make_opcode(qp.transport, operation);
    bth.dest_qpn = qp.attr.dest_qp_num;
  }
  // A datagram. `path` must outlive the builder.
  PacketBuilder(Core& core, Port& port, const wire::Path& path, wire::Operation operation);

  wire::Bth bth;  // the opcode is set, and the destination of a connected QP; fill in the rest before send()

  bool has(std::uint32_t flag) const { return info_.has(flag); }
  // The extended headers, at their places for this opcode. Valid only for headers that the opcode has.
  std::uint8_t* xrceth() { return transport_ + info_.xrceth; }
  std::uint8_t* deth() { return transport_ + info_.deth; }
  std::uint8_t* reth() { return transport_ + info_.reth; }
  std::uint8_t* aeth() { return transport_ + info_.aeth; }
  std::uint8_t* atomic_eth() { return transport_ + info_.atomic_eth; }
  std::uint8_t* atomic_ack_eth() { return transport_ + info_.atomic_ack_eth; }
  std::uint8_t* imm_dt() { return transport_ + info_.imm_dt; }
  std::uint8_t* ieth() { return transport_ + info_.ieth; }
  std::uint8_t* feth() { return transport_ + info_.feth; }
  // Room for 4096 bytes.
  std::uint8_t* payload() { return transport_ + info_.header_size; }

  // Pads, seals and commits. A builder without send() sends nothing.
  void send(std::size_t payload_size) { send(payload_size, link::FrameForm::kUnsealed); }
  // With references to the payload, of a packet without a tunnel.
  void send_referring(const MemoryPieces& memory);

 private:
  void send(std::size_t payload_size, link::FrameForm form);
  [[gnu::cold]] void lose();  // the port sends nothing

  Core& core_;
  Port& port_;
  const wire::Path& path_;
  const wire::OpcodeInfo& info_;
  const wire::NetworkHeaders* headers_ = nullptr;  // of the path; nullptr: a datagram
  const wire::Tunnel* tunnel_ = nullptr;           // nullptr: plain RoCE v2
  std::uint8_t* frame_;
  std::uint8_t* transport_;
};

}  // namespace verbs::soft::nic
