#include "nic/raw/raw_packet.h"

#include <cerrno>
#include <cstring>

#include "nic/device/completion.h"
#include "nic/device/nic_impl.h"
#include "nic/device/qp_error.h"
#include "nic/device/receive_request.h"
#include "nic/device/send_request.h"
#include "nic/raw/checksum.h"

namespace verbs::soft::nic {
namespace {

constexpr std::size_t kTailroom = 256;

bool is_frame_size(std::uint32_t size) { return size >= VERBS_SOFT_FRAME_MIN && size <= VERBS_SOFT_FRAME_MAX; }

ibv_wc_status send_frame(Core& core, Qp& qp, std::uint32_t position) {
  const std::uint32_t length = qp.sq.at(position).length;
  if (length < VERBS_SOFT_FRAME_MIN || length > frame_limit_of(core.port_of(qp))) return IBV_WC_LOC_LEN_ERR;
  const ibv_wc_status status = check_request(core, qp, position);
  if (status != IBV_WC_SUCCESS) return status;
  verbs_soft_frame frame = core.frame.frame(length);
  if (!load_payload(core, qp, position, 0, frame.data, length)) return IBV_WC_LOC_PROT_ERR;
  if ((qp.sq.at(position).flags & IBV_SEND_IP_CSUM) != 0) fill_checksums({frame.data, frame.size});
  core.config.steering->send(qp.attr.port_num, &qp, &frame);
  return IBV_WC_SUCCESS;
}

}  // namespace

verbs_soft_frame FrameBuffer::frame(std::uint32_t size) {
  constexpr std::size_t kRoom = VERBS_SOFT_FRAME_MAX + kTailroom;
  if (!bytes_) bytes_ = std::make_unique_for_overwrite<std::uint8_t[]>(VERBS_SOFT_FRAME_HEADROOM + kRoom);
  return {.data = bytes_.get() + VERBS_SOFT_FRAME_HEADROOM,
          .size = size,
          .headroom = VERBS_SOFT_FRAME_HEADROOM,
          .tailroom = static_cast<std::uint32_t>(kRoom - size)};
}

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

void take_frame(Core& core, std::uint8_t port_num, std::span<const std::uint8_t> bytes, bool looped) {
  const Port* port = core.port(port_num);
  const auto size = static_cast<std::uint32_t>(bytes.size());
  if (port == nullptr || !port->is_up()) {
    ++core.counters.link_dropped;
    return;
  }
  if (!is_frame_size(size)) {
    ++core.frame_counters.raw_malformed;
    return;
  }
  ++core.frame_counters.raw_rcvd_frames;
  core.frame_counters.raw_rcvd_bytes += size;
  verbs_soft_frame frame = core.frame.frame(size);
  std::memcpy(frame.data, bytes.data(), size);
  core.frame.looped = looped;
  core.config.steering->receive(port_num, &frame);
  core.frame.looped = false;
}

int transmit_frame(Core& core, std::uint8_t port_num, const verbs_soft_frame& frame) {
  Port* port = core.port(port_num);
  if (port == nullptr || port->frames() == nullptr) return EINVAL;
  if (!is_frame_size(frame.size)) {
    ++core.frame_counters.raw_malformed;
    return EMSGSIZE;
  }
  if (!port->is_up()) {
    ++core.counters.link_dropped;
    return 0;
  }
  ++core.frame_counters.raw_sent_frames;
  core.frame_counters.raw_sent_bytes += frame.size;
  port->frames()->send({frame.data, frame.size});
  return 0;
}

int deliver_frame(Core& core, Qp& qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery) {
  if (qp.type != IBV_QPT_RAW_PACKET) return EINVAL;
  if (frame.size > VERBS_SOFT_FRAME_MAX) return EMSGSIZE;
  FrameCounters& counters = core.frame_counters;
  if (core.frame.looped && !qp.self_loopback) {
    ++counters.raw_loopback_blocked;
    return 0;
  }
  if (!qp.may_receive()) {
    ++counters.raw_not_receiving;
    return 0;
  }
  if (!dequeue_recv(core, qp)) {
    ++counters.out_of_buffer;
    return 0;
  }
  const bool fits = frame.size <= qp.recv.wqe->length;
  if (!fits || !write_to_recv(core, qp, 0, {frame.data, frame.size})) {
    complete_recv(core, qp, fits ? IBV_WC_LOC_PROT_ERR : IBV_WC_LOC_LEN_ERR, {});
    enter_error(core, qp, IBV_EVENT_QP_FATAL);
    return 0;
  }
  ++counters.raw_delivered;
  Received received;
  received.byte_len = frame.size;
  received.flags = delivery.wc_flags;
  received.tags = {delivery.flow_tag & 0xffffff, delivery.cvlan};
  if (!complete_recv(core, qp, IBV_WC_SUCCESS, received)) enter_error(core, qp, IBV_EVENT_QP_FATAL);
  return 0;
}

void Nic::take_frame(std::uint8_t port_num, std::span<const std::uint8_t> frame, bool looped, Nanos now) {
  impl_->core.set_time(now);
  nic::take_frame(impl_->core, port_num, frame, looped);
}

int Nic::transmit_frame(std::uint8_t port_num, const verbs_soft_frame& frame) {
  return nic::transmit_frame(impl_->core, port_num, frame);
}

int Nic::deliver_frame(Qp* qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery) {
  return nic::deliver_frame(impl_->core, *qp, frame, delivery);
}

std::uint32_t Nic::frame_limit(std::uint8_t port_num) const {
  const Port* port = impl_->core.port(port_num);
  return port == nullptr ? 0 : frame_limit_of(*port);
}

int Nic::set_self_loopback(Qp* qp, bool allowed) {
  if (qp->type != IBV_QPT_RAW_PACKET) return EINVAL;
  qp->self_loopback = allowed;
  return 0;
}

}  // namespace verbs::soft::nic
