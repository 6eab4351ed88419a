// What a link has carried from another process, at its responder. Apart from messages.cc, where the compiler would
// inline less of what both share: 15 instructions of each WRITE within the process.

#include "nic/base/guarded_memory.h"
#include "nic/core/payload.h"
#include "nic/responder/messages.h"
#include "nic/responder/responses.h"
#include "nic/responder/whole.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {
namespace {

// In a ring. The peer may change it while it is copied: it is the peer's to say what arrives.
struct CarriedPayload {
  const Core& core;
  std::span<const std::uint8_t> bytes;

  bool operator()(const Memory& to) const {
    return to.at != nullptr && guarded_copy(to.at, bytes.data(), bytes.size(), to.lasts);
  }
  bool scatter(const Target& target) const {
    return nic::scatter(core.mrs, target.pd, target.sges(), target.wqe().num_sge, 0, bytes.data(), bytes.size());
  }
};

}  // namespace

bool execute_carried(Core& core, Qp& qp, const link::Message& message, std::span<const std::uint8_t> payload) {
  if (!expects(qp, message.psn) || !qp.may_receive() || payload.size() > qp.mtu) return false;
  const wire::OpcodeInfo& info = wire::kOpcodes[message.opcode];
  const WholeMessage whole{.core = core,
                           .qp = qp,
                           .length = static_cast<std::uint32_t>(payload.size()),
                           .packets = 1,
                           .immediate = info.has(wire::kHasImmDt),
                           .solicited = (message.flags & link::Message::kSolicited) != 0,
                           .imm_data = message.value,
                           .rkey = message.rkey,
                           .address = message.address};
  const CarriedPayload from{core, payload};
  const bool done = info.has(wire::kIsSend) ? execute_whole_send(whole, from) : execute_whole_write(whole, from);
  if (done && (message.flags & link::Message::kAckReq) != 0) queue_ack(core, qp, message.psn);
  return done;
}

}  // namespace verbs::soft::nic
