#include "link/faults/frame_fields.h"

#include "wire/bytes.h"
#include "wire/headers.h"
#include "wire/opcode.h"

namespace verbs::soft::link {

FrameFacts facts_of(std::span<const std::uint8_t> frame) {
  constexpr std::size_t kPortFromEnd = 6;  // where a UDP header has its destination port
  const std::size_t network = wire::network_size_of(frame);
  if (network == 0 || frame.size() < network + wire::Bth::kSize ||
      wire::load_be<std::uint16_t>(&frame[network - kPortFromEnd]) != wire::kRocePort) {
    return {};
  }
  const std::span<const std::uint8_t> transport = frame.subspan(network);
  const wire::Bth bth = wire::Bth::parse(transport.data());
  FrameFacts facts{.network = network, .opcode = bth.opcode, .qpn = bth.dest_qpn, .psn = bth.psn, .aeth = {}};
  const wire::OpcodeInfo* info = wire::opcode_info(bth.opcode);
  if (info != nullptr && info->has(wire::kHasAeth) && transport.size() > info->aeth) {
    facts.aeth = static_cast<AethKind>(transport[info->aeth] >> 5 & 3);
  }
  return facts;
}

bool matches(const FaultRule& rule, const FrameFacts& facts) {
  const bool asks = rule.opcodes || rule.qpn || rule.psn || rule.aeth;
  if (!asks) return true;
  return facts.network != 0 && (!rule.opcodes || rule.opcodes->test(facts.opcode)) &&
         (!rule.qpn || *rule.qpn == facts.qpn) && (!rule.psn || rule.psn->has(facts.psn)) &&
         (!rule.aeth || (facts.aeth && *rule.aeth == *facts.aeth));
}

}  // namespace verbs::soft::link
