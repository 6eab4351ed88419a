#include "link/faults/frame_fields.h"

#include "wire/bytes.h"
#include "wire/headers.h"
#include "wire/opcode.h"

namespace verbs::soft::link {

FrameFields parse_fields(std::span<const std::uint8_t> frame) {
  constexpr std::size_t kPortFromEnd = 6;  // where a UDP header has its destination port
  const std::size_t network = wire::network_size_of(frame);
  if (network == 0 || frame.size() < network + wire::Bth::kSize ||
      wire::load_be<std::uint16_t>(&frame[network - kPortFromEnd]) != wire::kRocePort) {
    return {};
  }
  const std::span<const std::uint8_t> transport = frame.subspan(network);
  const wire::Bth bth = wire::Bth::parse(transport.data());
  FrameFields fields{.network = network, .opcode = bth.opcode, .qpn = bth.dest_qpn, .psn = bth.psn, .aeth = {}};
  const wire::OpcodeInfo* info = wire::opcode_info(bth.opcode);
  if (info != nullptr && info->has(wire::kHasAeth) && transport.size() > info->aeth) {
    fields.aeth = static_cast<AethKind>(transport[info->aeth] >> 5 & 3);
  }
  return fields;
}

bool matches(const FaultRule& rule, const FrameFields& fields) {
  const bool asks = rule.opcodes || rule.qpn || rule.psn || rule.aeth;
  if (!asks) return true;
  return fields.network != 0 && (!rule.opcodes || rule.opcodes->test(fields.opcode)) &&
         (!rule.qpn || *rule.qpn == fields.qpn) && (!rule.psn || rule.psn->has(fields.psn)) &&
         (!rule.aeth || (fields.aeth && *rule.aeth == *fields.aeth));
}

}  // namespace verbs::soft::link
