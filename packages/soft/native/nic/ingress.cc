#include "nic/ingress.h"

#include <array>
#include <cstring>
#include <optional>

#include "nic/completer.h"
#include "nic/core/explanation.h"
#include "nic/core/packet.h"
#include "nic/core/packet_builder.h"
#include "nic/datagram.h"
#include "nic/responder/messages.h"
#include "nic/responder/responder.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/opcode.h"
#include "wire/tunnel.h"

namespace verbs::soft::nic {
namespace {

// One reading of a frame: its headers and the queue pair that they name.
struct Parsed {
  Parsed(const Core& core, const wire::FrameView& view)
      : frame(&view),
        bth(wire::Bth::parse(view.transport.data())),
        info(wire::opcode_info(bth.opcode)),
        qp(core.qps.find(bth.dest_qpn)) {}

  const wire::FrameView* frame;
  wire::Bth bth;
  const wire::OpcodeInfo* info;  // nullptr: no opcode that RoCE v2 defines
  Qp* qp;                        // nullptr: no queue pair of that number

  bool is_request() const { return info->has(wire::kIsRequest); }
  bool is_datagram() const { return wire::transport_of(bth.opcode) == wire::Transport::kUd; }
  bool is_to_group() const { return frame->is_to_group(); }
  bool is_to_management() const { return bth.dest_qpn == kManagementQpn; }
  std::size_t trailer_size() const { return wire::kIcrcSize + bth.pad; }
};

// Whether the queue pair receives packets through `tunnel` (nullptr: a plain packet). A tunnel counts only where both
// ends have it.
bool receives_through(const Qp& qp, bool request, const wire::Tunnel* tunnel) {
  const wire::Tunnel* own = qp.receive_tunnel(request);
  if (tunnel == nullptr) return own == nullptr || own->type == wire::Tunnel::Type::kPlain;
  return own != nullptr && own->open && own->agrees_with(*tunnel);
}

// Whether a packet of a connection comes from the peer. The outer source address of a tunnel is the sender's choice
// and is not compared.
bool is_from_peer(const Qp& qp, bool request, const wire::FrameView& frame) {
  return frame.is_to(qp.path.sgid) && (qp.receive_tunnel(request) != nullptr || frame.is_from(qp.path.dgid));
}

// The packet behind a tunnel's header, where its queue pair receives by that tunnel.
std::optional<wire::FrameView> find_tunnelled(const Core& core, const Port& port, std::span<const std::uint8_t> frame) {
  for (const auto& tunnel : port.tunnels()) {
    const std::optional<wire::FrameView> view = wire::parse_tunnelled(frame, *tunnel);
    if (!view) continue;
    const Parsed parsed(core, *view);
    if (parsed.info == nullptr || parsed.qp == nullptr) continue;
    if (receives_through(*parsed.qp, parsed.is_request(), tunnel.get())) return view;
  }
  return std::nullopt;
}

// The packet of a frame of a port with tunnels. nullopt when it is no RoCE v2 packet, or came by another way than its
// queue pair has agreed on with its peer. A packet without a queue pair or a known opcode belongs to no tunnel: it
// parses as a plain one.
std::optional<wire::FrameView> find_packet(const Core& core, const Port& port, std::span<const std::uint8_t> frame) {
  std::optional<wire::FrameView> plain = wire::parse_frame(frame);
  bool parses_plain = false;
  if (plain && plain->is_to_port(wire::kRocePort)) {
    const Parsed parsed(core, *plain);
    parses_plain = parsed.info == nullptr || parsed.qp == nullptr;
    if (!parses_plain && receives_through(*parsed.qp, parsed.is_request(), nullptr)) return plain;
  }
  if (std::optional<wire::FrameView> tunnelled = find_tunnelled(core, port, frame)) return tunnelled;
  return parses_plain ? plain : std::nullopt;
}

Reason check_headers(const Parsed& parsed) {
  if (parsed.info == nullptr || parsed.frame->transport.size() < parsed.info->header_size + parsed.trailer_size() ||
      parsed.bth.version != 0) {
    return Reason::kDropMalformed;
  }
  return (parsed.bth.pkey & 0x7fff) == (kDefaultPkey & 0x7fff) ? Reason::kNone : Reason::kDropPkey;
}

// Whether the queue pair takes such a packet on that port, in its state and from that sender.
Reason check_receiver(const Parsed& parsed, std::uint8_t port_num) {
  if (parsed.is_to_group()) {
    if (!parsed.is_datagram()) return Reason::kDropMalformed;
    return parsed.bth.dest_qpn == kMulticastQpn ? Reason::kNone : Reason::kDropGroupQpn;
  }
  if (parsed.is_to_management()) return parsed.is_datagram() ? Reason::kNone : Reason::kDropMalformed;
  const Qp* qp = parsed.qp;
  if (qp == nullptr) return Reason::kDropUnknownQp;
  if (qp->attr.port_num != port_num) return Reason::kDropPort;
  if (qp->transport != wire::transport_of(parsed.bth.opcode)) return Reason::kDropTransport;
  const bool request = parsed.is_request();
  // An XRC initiator takes no requests, a target no responses.
  if (qp->type == (request ? IBV_QPT_XRC_SEND : IBV_QPT_XRC_RECV)) return Reason::kDropTransport;
  if (request ? !qp->may_receive() : !qp->may_send()) {
    return qp->state == IBV_QPS_ERR ? Reason::kDropFailed : Reason::kDropState;
  }
  return parsed.is_datagram() || is_from_peer(*qp, request, *parsed.frame) ? Reason::kNone : Reason::kDropPeer;
}

// The values that mattered.
[[gnu::cold]] Why with_values(Reason reason, const Parsed& parsed, std::uint8_t port_num) {
  switch (reason) {
    case Reason::kDropPkey:
      return {reason, {parsed.bth.pkey}};
    case Reason::kDropUnknownQp:
    case Reason::kDropGroupQpn:
      return {reason, {parsed.bth.dest_qpn}};
    case Reason::kDropPort:
      return {reason, {parsed.qp->attr.port_num, port_num}};
    case Reason::kDropTransport:
      return {reason, {static_cast<std::uint64_t>(parsed.qp->type), parsed.bth.opcode}};
    case Reason::kDropState:
      return {reason, {static_cast<std::uint64_t>(parsed.qp->state)}};
    case Reason::kDropPortDown:
      return {reason, {port_num}};
    default:
      return {reason};
  }
}

// Of a datagram the sender's queue pair.
std::uint32_t source_qp_of(const Parsed& parsed) {
  if (!parsed.is_datagram() || check_headers(parsed) != Reason::kNone) return 0;
  return wire::Deth::parse(parsed.frame->transport.data() + parsed.info->deth).src_qpn;
}

// Counts a packet that is dropped as `counter` has it.
[[gnu::cold]] void drop_packet(Core& core, std::uint64_t& counter, Reason reason, const Parsed& parsed,
                               std::uint8_t port_num) {
  ++counter;
  const bool ended = reason == Reason::kDropUnknownQp || reason == Reason::kDropState || reason == Reason::kDropFailed;
  if (ended && !parsed.is_request()) {
    // A response to a queue pair that has ended or failed meanwhile, which is no mistake or one that was explained.
    ++core.all_counters.reasons[static_cast<std::size_t>(reason)];
    return;
  }
  explain_drop(core, with_values(reason, parsed, port_num), parsed.qp, parsed.frame, source_qp_of(parsed));
}

bool has_valid_icrc(const Parsed& parsed, std::span<const std::uint8_t> frame) {
  const std::size_t tunnel = parsed.frame->tunnel_header;
  const auto network = static_cast<std::size_t>(parsed.frame->transport.data() - frame.data()) - tunnel;
  return wire::check_icrc(frame, network, tunnel);
}

}  // namespace

void Ingress::drop(Reason reason) {
  ++core_.counters.dropped_pkts;
  explain_drop(core_, {reason}, nullptr, nullptr);
}

// What the list says is the sender's: sizes may be any. The state machines check them as those of payloads.
void Ingress::handle_referring(Qp& qp, const Packet& packet, link::SenderMemory& memory, Nanos now) {
  std::array<link::Reference, link::kMostReferences> pieces;
  const std::span<const std::uint8_t> list = packet.payload();
  const std::size_t count = list.size() / sizeof(link::Reference);
  const bool request = packet.has(wire::kIsRequest);
  const std::uint32_t kinds = request ? wire::kIsSend | wire::kIsWrite : wire::kIsRead;
  if (!packet.has(kinds) || !qp.is_reliable() || count == 0 || count > pieces.size() ||
      list.size() % sizeof(link::Reference) != 0) {
    return drop();
  }
  std::memcpy(pieces.data(), list.data(), list.size());
  std::size_t size = 0;
  for (const link::Reference& piece : std::span(pieces.data(), count)) {
    if (piece.size > link::kMostReferred - size) return drop();
    size += piece.size;
  }
  const ReferredPayload referred{memory, {pieces.data(), count}, size};
  const Packet whole{packet.frame, packet.bth, packet.info, packet.transport, &referred};
  request ? handle_request(core_, qp, whole) : handle_response(core_, qp, whole, now);
}

void Ingress::refuse(const wire::Path& path, Nanos now) {
  core_.set_time(now);
  core_.explain({.why = {Reason::kDropSourcePort, {path.source_port}}, .peer = path.sgid});
}

void Ingress::deliver(std::uint8_t port_num, std::span<const std::uint8_t> frame, Nanos now, link::FrameForm form,
                      link::SenderMemory* memory) {
  core_.set_time(now);
  const Port* port = core_.ports.find(port_num);
  if (port == nullptr) return drop();
  const bool plain = port->tunnels().empty();
  const std::optional<wire::FrameView> view = plain ? wire::parse_frame(frame) : find_packet(core_, *port, frame);
  // Where there are tunnels, most of what cannot be read has another header than this end.
  if (!view && !plain) return drop(Reason::kDropTunnel);
  if (!view || (plain && !view->is_to_port(wire::kRocePort))) return drop();
  const Parsed parsed(core_, *view);
  if (plain && parsed.info != nullptr && parsed.qp != nullptr &&
      !receives_through(*parsed.qp, parsed.is_request(), nullptr)) {
    return drop_packet(core_, core_.counters.dropped_pkts, Reason::kDropTunnel, parsed, port_num);
  }
  if (!parsed.is_to_group() && !port->is_destination(*view)) {
    return drop_packet(core_, core_.counters.dropped_pkts, Reason::kDropDestination, parsed, port_num);
  }
  if (!port->is_up()) return drop_packet(core_, core_.counters.link_dropped, Reason::kDropPortDown, parsed, port_num);
  Reason wrong = check_headers(parsed);
  if (wrong == Reason::kNone) wrong = check_receiver(parsed, port_num);
  if (wrong != Reason::kNone) return drop_packet(core_, core_.counters.dropped_pkts, wrong, parsed, port_num);
  if (form == link::FrameForm::kSealed && !has_valid_icrc(parsed, frame)) {
    return drop_packet(core_, core_.counters.icrc_err, Reason::kDropIcrc, parsed, port_num);
  }
  ++core_.counters.rcvd_pkts;
  core_.counters.rcvd_bytes += frame.size();

  const std::span<const std::uint8_t> transport = view->transport;
  const Packet packet{*view, parsed.bth, *parsed.info, transport.first(transport.size() - parsed.trailer_size())};
  if (memory != nullptr) {
    if (parsed.is_to_group() || parsed.is_to_management() || parsed.is_datagram()) return drop();
    handle_referring(*parsed.qp, packet, *memory, now);
  } else if (parsed.is_to_group()) {
    receive_group_datagram(core_, port_num, packet);
  } else if (parsed.is_to_management()) {
    receive_mad(core_, port_num, packet);
  } else if (parsed.is_datagram()) {
    receive_datagram(core_, *parsed.qp, packet);
  } else if (parsed.is_request()) {
    handle_request(core_, *parsed.qp, packet);
  } else {
    handle_response(core_, *parsed.qp, packet, now);
  }
}

// Whether the message is handled. Else its packet is: nothing has happened.
[[gnu::always_inline]] inline bool Ingress::take_message(std::uint8_t port_num, const link::Message& message,
                                                         std::span<const std::uint8_t> payload,
                                                         const link::MessageEnds& ends) {
  if (!link::is_carried(message.opcode)) return false;
  Qp* qp = core_.qps.find(message.dest_qpn);
  if (qp == nullptr || qp->type != IBV_QPT_RC || qp->attr.port_num != port_num || !core_.port_of(*qp).is_plain() ||
      qp->request_tunnel != nullptr || qp->response_tunnel != nullptr || qp->path.sgid != ends.destination ||
      qp->path.dgid != ends.source || message.psn > kPsnMask) {
    return false;
  }
  const wire::OpcodeInfo& info = wire::kOpcodes[message.opcode];
  if (info.has(wire::kIsRequest)) {
    if (!execute_carried(core_, *qp, message, payload)) return false;
  } else {
    if (!qp->may_send() || !payload.empty()) return false;
    handle_answer(core_, *qp, message.psn, message.syndrome, core_.now);
  }
  ++core_.counters.rcvd_pkts;
  core_.counters.rcvd_bytes += packet_size(*qp, info, payload.size());
  return true;
}

bool Ingress::deliver_message(std::uint8_t port_num, const link::Message& message,
                              std::span<const std::uint8_t> payload, const link::MessageEnds& ends, Nanos now) {
  core_.set_time(now);
  if (take_message(port_num, message, payload, ends)) [[likely]]
    return true;
  std::uint8_t frame[wire::kMaxFrame];
  const std::size_t size = link::write_packet(message, payload, ends, frame);
  if (size == 0) return false;
  deliver(port_num, {frame, size}, now, link::FrameForm::kUnsealed);
  return true;
}

}  // namespace verbs::soft::nic
