#include "nic/raw/raw_packets.h"

#include <cerrno>
#include <cstring>

#include "nic/device/completion.h"
#include "nic/device/qp_error.h"
#include "nic/device/receive_request.h"
#include "nic/device/send_request.h"
#include "nic/raw/checksum.h"

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
  Qp& qp = *to;
  if (qp.type != IBV_QPT_RAW_PACKET) return EINVAL;
  if (frame.size > VERBS_SOFT_FRAME_MAX) return EMSGSIZE;
  FrameCounters& counters = core_.frame_counters;
  if (core_.frame.looped && !qp.self_loopback) {
    ++counters.raw_loopback_blocked;
    return 0;
  }
  if (!qp.may_receive()) {
    ++counters.raw_not_receiving;
    return 0;
  }
  if (!dequeue_recv(core_, qp)) {
    ++counters.out_of_buffer;
    return 0;
  }
  const bool fits = frame.size <= qp.recv.wqe->length;
  if (!fits || !write_to_recv(core_, qp, 0, {frame.data, frame.size})) {
    complete_recv(core_, qp, fits ? IBV_WC_LOC_PROT_ERR : IBV_WC_LOC_LEN_ERR, {});
    enter_error(core_, qp, IBV_EVENT_QP_FATAL);
    return 0;
  }
  ++counters.raw_delivered;
  Received received;
  received.byte_len = frame.size;
  received.flags = delivery.wc_flags;
  received.tags = {delivery.flow_tag & 0xffffff, delivery.cvlan};
  if (!complete_recv(core_, qp, IBV_WC_SUCCESS, received)) enter_error(core_, qp, IBV_EVENT_QP_FATAL);
  return 0;
}

}  // namespace verbs::soft::nic
