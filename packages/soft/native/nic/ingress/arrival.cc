#include "nic/ingress/arrival.h"

#include "wire/headers.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {
namespace {

// Requests come to the responder, which answers them; responses to the requester.
const wire::Tunnel* tunnel_of(const Qp& qp, bool request) {
  return request ? qp.path.response_tunnel : qp.path.request_tunnel;
}

enum class Verdict : std::uint8_t { kYes, kNo, kNamesNothing };

// `tunnel`: nullptr for a plain packet.
Verdict agrees(const Core& core, const wire::FrameView& view, const wire::Tunnel* tunnel) {
  const wire::Bth bth = wire::Bth::parse(view.transport.data());
  const wire::OpcodeInfo* info = wire::opcode_info(bth.opcode);
  const Qp* qp = core.qps.find(bth.dest_qpn);
  if (info == nullptr || qp == nullptr) return Verdict::kNamesNothing;
  const wire::Tunnel* own = tunnel_of(*qp, info->has(wire::kIsRequest));
  const bool agreed = tunnel == nullptr ? own == nullptr || own->type == wire::Tunnel::Type::kPlain
                                        : own != nullptr && own->open && own->agrees_with(*tunnel);
  return agreed ? Verdict::kYes : Verdict::kNo;
}

}  // namespace

std::optional<wire::FrameView> unwrap(const Core& core, const Port& port, std::span<const std::uint8_t> frame) {
  std::optional<wire::FrameView> plain = wire::parse_frame(frame);
  Verdict verdict = Verdict::kNo;
  if (plain && plain->path.destination_port == wire::kRocePort) verdict = agrees(core, *plain, nullptr);
  if (verdict == Verdict::kYes) return plain;
  for (const auto& tunnel : port.tunnels()) {
    const std::optional<wire::FrameView> view = wire::parse_tunnelled(frame, *tunnel);
    if (view && agrees(core, *view, tunnel.get()) == Verdict::kYes) return view;
  }
  // What names nothing is left to the checks of every packet.
  return verdict == Verdict::kNamesNothing ? plain : std::nullopt;
}

bool from_peer(const Qp& qp, bool request, const wire::Path& path) {
  if (path.dgid != qp.path.sgid) return false;
  return tunnel_of(qp, request) != nullptr || path.sgid == qp.path.dgid;
}

}  // namespace verbs::soft::nic
