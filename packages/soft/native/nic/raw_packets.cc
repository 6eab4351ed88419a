#include "nic/raw_packets.h"

#include <cerrno>
#include <cstring>

#include "nic/core/completion.h"
#include "nic/core/explanation.h"
#include "nic/core/work_request.h"
#include "nic/receive_queues.h"
#include "wire/bytes.h"

namespace verbs::soft::nic {
namespace {

bool is_frame_size(std::uint32_t size) { return size >= VERBS_SOFT_FRAME_MIN && size <= VERBS_SOFT_FRAME_MAX; }

ibv_wc_status send_frame(Core& core, Qp& qp, std::uint32_t position) {
  const SendWqe& wqe = qp.sq.at(position);
  if (wqe.error != IBV_WC_SUCCESS) return wqe.error;
  const std::uint32_t length = wqe.length;
  if (length < VERBS_SOFT_FRAME_MIN || length > core.port_of(qp).frame_limit()) return IBV_WC_LOC_LEN_ERR;
  const ibv_wc_status status = check_request(core, qp, position);
  if (status != IBV_WC_SUCCESS) return status;
  verbs_soft_frame frame = core.frame.frame(length);
  if (!load_payload(core, qp, position, 0, frame.data, length)) return IBV_WC_LOC_PROT_ERR;
  if ((wqe.flags & IBV_SEND_IP_CSUM) != 0) fill_checksums({frame.data, frame.size});
  core.config.steering->send(qp.attr.port_num, &qp, &frame);
  return IBV_WC_SUCCESS;
}

}  // namespace

std::size_t send_raw_packets(Core& core, Qp& qp, std::size_t budget) {
  if (!qp.may_send()) return 0;
  std::size_t count = 0;
  for (; count < budget && !qp.sq.empty() && qp.state == IBV_QPS_RTS; ++count) {
    const ibv_wc_status status = send_frame(core, qp, qp.sq.head);
    if (status == IBV_WC_SUCCESS) {
      complete_send(core, qp, status);
    } else {
      fail_send(core, qp, status);
    }
  }
  qp.req.position = qp.sq.head;
  if (qp.state == IBV_QPS_SQD) check_drained(core, qp);
  return count;
}

void RawPackets::receive(std::uint8_t port_num, std::span<const std::uint8_t> bytes, bool looped, Nanos now) {
  core_.set_time(now);
  const Port* port = core_.ports.find(port_num);
  const auto size = static_cast<std::uint32_t>(bytes.size());
  if (port == nullptr || !port->is_up()) {
    ++core_.counters.link_dropped;
    return;
  }
  if (!is_frame_size(size)) {
    ++core_.frame_counters.raw_malformed;
    return;
  }
  ++core_.frame_counters.raw_rcvd_frames;
  core_.frame_counters.raw_rcvd_bytes += size;
  verbs_soft_frame frame = core_.frame.frame(size);
  std::memcpy(frame.data, bytes.data(), size);
  core_.frame.looped = looped;
  core_.config.steering->receive(port_num, &frame);
  core_.frame.looped = false;
}

int RawPackets::transmit(std::uint8_t port_num, const verbs_soft_frame& frame) {
  Port* port = core_.ports.find(port_num);
  if (port == nullptr || port->frames() == nullptr) return EINVAL;
  if (!is_frame_size(frame.size)) {
    ++core_.frame_counters.raw_malformed;
    return EMSGSIZE;
  }
  if (!port->is_up()) {
    ++core_.counters.link_dropped;
    return 0;
  }
  ++core_.frame_counters.raw_sent_frames;
  core_.frame_counters.raw_sent_bytes += frame.size;
  port->frames()->send({frame.data, frame.size});
  return 0;
}

int RawPackets::deliver(Qp* to, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery) {
  if (to->type != IBV_QPT_RAW_PACKET) return EINVAL;
  if (frame.size > VERBS_SOFT_FRAME_MAX) return EMSGSIZE;
  if (to->spread != nullptr && frame.size < VERBS_SOFT_FRAME_MIN) return EMSGSIZE;
  // Its loopback is that of the queue pair.
  const bool loops = to->self_loopback;
  Qp& qp = to->spread == nullptr ? *to : *queue_of(*to->spread, {frame.data, frame.size});
  FrameCounters& counters = core_.frame_counters;
  if (core_.frame.looped && !loops) {
    ++counters.raw_loopback_blocked;
    return 0;
  }
  if (!qp.may_receive()) {
    ++counters.raw_not_receiving;
    explain_drop(core_, {Reason::kDropState, {qp.state}}, &qp, nullptr);
    return 0;
  }
  if (!dequeue_recv(core_, qp)) {
    ++counters.out_of_buffer;
    explain_drop(core_, {Reason::kDropNoReceive, {frame.size}}, &qp, nullptr);
    return 0;
  }
  const bool fits = frame.size <= qp.recv.wqe->length;
  if (!fits || !write_to_recv(core_, qp, 0, {frame.data, frame.size})) {
    const Why why =
        fits ? why_no_receive_memory(core_, qp) : Why{Reason::kShortReceive, {qp.recv.wqe->length, frame.size}};
    explain_responder(core_, qp, 0, fits ? IBV_WC_LOC_PROT_ERR : IBV_WC_LOC_LEN_ERR, why);
    complete_recv(core_, qp, fits ? IBV_WC_LOC_PROT_ERR : IBV_WC_LOC_LEN_ERR, {});
    enter_error(core_, qp, IBV_EVENT_QP_FATAL);
    return 0;
  }
  ++counters.raw_delivered;
  Received received;
  received.byte_len = frame.size;
  received.flags = delivery.wc_flags;
  received.tags = {.flow_tag = delivery.flow_tag & 0xffffff, .cvlan = delivery.cvlan};
  if (!complete_recv(core_, qp, IBV_WC_SUCCESS, received)) enter_error(core_, qp, IBV_EVENT_QP_FATAL);
  return 0;
}

namespace {

using wire::load_be;
using wire::store_be;

constexpr std::uint8_t kTcp = 6, kUdp = 17;

std::uint32_t sum_of(std::span<const std::uint8_t> bytes, std::uint32_t sum = 0) {
  for (; bytes.size() >= 2; bytes = bytes.subspan(2)) sum += load_be<std::uint16_t>(bytes.data());
  return bytes.empty() ? sum : sum + (std::uint32_t{bytes[0]} << 8);
}

std::uint16_t folded(std::uint32_t sum) {
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~(sum + (sum >> 16)));
}

// `addresses` are those of the IP header, source and destination.
void fill_transport(std::span<std::uint8_t> segment, std::uint8_t protocol, std::span<const std::uint8_t> addresses) {
  const std::size_t header = protocol == kTcp ? 20 : 8;
  if ((protocol != kTcp && protocol != kUdp) || segment.size() < header) return;
  std::uint8_t* at = &segment[protocol == kTcp ? 16 : 6];
  store_be<std::uint16_t>(at, 0);
  std::uint16_t sum =
      folded(sum_of(segment, sum_of(addresses) + protocol + static_cast<std::uint32_t>(segment.size())));
  if (protocol == kUdp && sum == 0) sum = 0xffff;  // 0 means that there is none
  store_be(at, sum);
}

void fill_ipv4(std::span<std::uint8_t> packet) {
  constexpr std::size_t kHeader = 20;
  constexpr std::uint16_t kFragment = 0x3fff;  // more fragments, and the offset
  if (packet.size() < kHeader) return;
  const std::size_t header = (packet[0] & 0x0fu) * 4;
  const std::size_t length = load_be<std::uint16_t>(&packet[2]);
  if (packet[0] >> 4 != 4 || header < kHeader || length < header || length > packet.size()) return;
  store_be<std::uint16_t>(&packet[10], 0);
  store_be(&packet[10], folded(sum_of(packet.first(header))));
  if ((load_be<std::uint16_t>(&packet[6]) & kFragment) != 0) return;
  fill_transport(packet.subspan(header, length - header), packet[9], packet.subspan(12, 8));
}

void fill_ipv6(std::span<std::uint8_t> packet) {
  constexpr std::size_t kHeader = 40;
  if (packet.size() < kHeader || packet[0] >> 4 != 6) return;
  const std::size_t length = kHeader + load_be<std::uint16_t>(&packet[4]);
  if (length > packet.size()) return;
  const UpperLayer upper = upper_layer_of_ipv6(packet.first(length));
  if (upper.at == 0 || upper.is_routed) return;  // the last address is not in the header
  fill_transport(packet.subspan(upper.at, length - upper.at), upper.protocol, packet.subspan(8, 32));
}

}  // namespace

void fill_checksums(std::span<std::uint8_t> frame) {
  constexpr std::uint16_t kIpv4 = 0x0800, kIpv6 = 0x86dd, kVlan = 0x8100, kOuterVlan = 0x88a8;
  std::size_t type = 12;
  for (int tags = 0; tags <= 2 && type + 2 <= frame.size(); ++tags, type += 4) {
    const auto ethertype = load_be<std::uint16_t>(&frame[type]);
    if (ethertype == kIpv4) return fill_ipv4(frame.subspan(type + 2));
    if (ethertype == kIpv6) return fill_ipv6(frame.subspan(type + 2));
    if (ethertype != kVlan && ethertype != kOuterVlan) return;
  }
}

}  // namespace verbs::soft::nic
