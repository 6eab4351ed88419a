#include "model/device/frames.h"

#include <ctime>

#include "model/device/raw_qp.h"
#include "steering/headers/checksum.h"

namespace verbs::mlx5::model {

namespace {

steering::Frame frame_of(const verbs_soft_frame& frame) {
  return {.data = frame.data, .size = frame.size, .headroom = frame.headroom, .tailroom = frame.tailroom};
}

verbs_soft_frame frame_of(const steering::Packet& packet) {
  const steering::Frame& frame = packet.frame();
  return {.data = frame.data, .size = frame.size, .headroom = frame.headroom, .tailroom = frame.tailroom};
}

// As mlx5 reports it: set for an IPv4 packet whose header and payload checksums are correct.
std::uint32_t checksums_of(const steering::Packet& packet) {
  const auto [ipv4_ok, l4_ok] = steering::check_checksums(packet.frame().data, packet.layers().outer);
  return ipv4_ok && l4_ok ? static_cast<std::uint32_t>(IBV_WC_IP_CSUM_OK) : 0;
}

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// Delivers the frames of one port.
class PortSink final : public steering::Sink {
 public:
  PortSink(Device& device, std::uint8_t port_num) : device_(device), port_num_(port_num) {}

  void to_receiver(void* receiver, const steering::Packet& packet) override {
    const auto& qp = *static_cast<const RawQp*>(receiver);
    if (qp.port_num != port_num_) return;
    const verbs_soft_frame frame = frame_of(packet);
    const verbs_soft_delivery delivery{.flow_tag = packet.flow_tag, .wc_flags = checksums_of(packet), .cvlan = 0};
    soft()->deliver_frame(qp.ibv, &frame, &delivery);
  }
  void to_wire(const steering::Packet& packet) override {
    const verbs_soft_frame frame = frame_of(packet);
    soft()->transmit_frame(device_.ibv, port_num_, &frame);
  }
  // Vports belong to the FDB, which the model does not have.
  void to_vport(std::uint32_t, const steering::Packet&) override {}
  void dropped(steering::DropReason reason, const steering::Packet&) override {
    ++*device_.drops[static_cast<std::size_t>(reason)];
  }

 private:
  Device& device_;
  const std::uint8_t port_num_;
};

void run(Device& device, Direction direction, std::uint8_t port_num, std::uint32_t source_sqn,
         const verbs_soft_frame& frame) {
  const bool receive = direction == Direction::kReceive;
  steering::Pipeline& pipeline = receive ? device.receive_pipeline : device.transmit_pipeline;
  const bool limited = device.capabilities.mtu_check != 0;
  pipeline.set_max_frame_size(limited ? soft()->frame_limit(device.ibv, port_num) : VERBS_SOFT_FRAME_MAX);
  const steering::Origin origin{.source_sqn = source_sqn, .source_vhca_port = port_num};
  steering::Packet packet(frame_of(frame), origin, device.clocked != 0 ? now() : 0);
  PortSink sink(device, port_num);
  pipeline.run(device.root(direction).first(), receive ? steering::Domain::kNicRx : steering::Domain::kNicTx, packet,
               sink);
}

}  // namespace

void raw_send(void*, ibv_device* ibv, std::uint8_t port_num, ibv_qp* qp, verbs_soft_frame* frame) {
  run(*find_device(ibv), Direction::kTransmit, port_num, qp->qp_num, *frame);
}

void raw_receive(void*, ibv_device* ibv, std::uint8_t port_num, verbs_soft_frame* frame) {
  run(*find_device(ibv), Direction::kReceive, port_num, 0, *frame);
}

}  // namespace verbs::mlx5::model
