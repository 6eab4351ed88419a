#include "link/message.h"

#include <cstring>

#include "wire/headers.h"
#include "wire/opcode.h"

namespace verbs::soft::link {
namespace {

constexpr std::size_t kMostPayload = 4096;

}  // namespace

std::size_t write_packet(const Message& message, std::span<const std::uint8_t> payload, const MessageEnds& ends,
                         std::uint8_t* frame) {
  if (!is_carried(message.opcode) || payload.size() > kMostPayload) return 0;
  const wire::OpcodeInfo& info = wire::kOpcodes[message.opcode];
  if (!payload.empty() && !info.has(wire::kHasPayload)) return 0;
  const wire::Path path{.sgid = ends.source,
                        .dgid = ends.destination,
                        .traffic_class = message.route.traffic_class,
                        .hop_limit = message.route.hop_limit,
                        .flow_label = message.route.flow_label,
                        .source_port = message.route.source_port};
  const auto pad = static_cast<std::uint8_t>(-payload.size() & 3);
  const std::size_t transport_size = info.header_size + payload.size() + pad + wire::kIcrcSize;
  std::uint8_t* transport = frame + wire::write_network(frame, path, transport_size);
  wire::Bth bth;
  bth.opcode = message.opcode;
  bth.solicited = (message.flags & Message::kSolicited) != 0;
  bth.pad = pad;
  bth.dest_qpn = message.dest_qpn;
  bth.ack_req = (message.flags & Message::kAckReq) != 0;
  bth.psn = message.psn;
  bth.emit(transport);
  const auto length = static_cast<std::uint32_t>(payload.size());
  if (info.has(wire::kHasReth)) wire::Reth{message.address, message.rkey, length}.emit(transport + info.reth);
  if (info.has(wire::kHasImmDt)) std::memcpy(transport + info.imm_dt, &message.value, sizeof message.value);
  if (info.has(wire::kHasAeth)) wire::Aeth{message.syndrome, message.value}.emit(transport + info.aeth);
  if (!payload.empty()) std::memcpy(transport + info.header_size, payload.data(), payload.size());
  std::memset(transport + info.header_size + payload.size(), 0, pad + wire::kIcrcSize);
  return static_cast<std::size_t>(transport - frame) + transport_size;
}

}  // namespace verbs::soft::link
