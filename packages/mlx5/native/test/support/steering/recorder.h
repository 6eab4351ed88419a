// A sink that records all frames.
#pragma once

#include <optional>
#include <vector>

#include "steering/pipeline/pipeline.h"
#include "test/support/steering/buffer.h"

namespace verbs::mlx5::steering::test {

class Recorder : public Sink {
 public:
  struct Frame {
    enum Where { kReceiver, kWire, kVport, kDropped } where;
    Bytes bytes;
    void* receiver = nullptr;
    std::uint32_t vport = 0;
    DropReason reason = DropReason::kCount;
    std::uint32_t flow_tag = 0;
    std::uint32_t tunnel_vni = 0;
    Registers registers = {};
  };

  void to_receiver(void* receiver, const Packet& packet) override { add(Frame::kReceiver, packet).receiver = receiver; }
  void to_wire(const Packet& packet) override { add(Frame::kWire, packet); }
  void to_vport(std::uint32_t vport, const Packet& packet) override { add(Frame::kVport, packet).vport = vport; }
  void dropped(DropReason reason, const Packet& packet) override { add(Frame::kDropped, packet).reason = reason; }

  std::vector<Frame> frames;

 private:
  Frame& add(Frame::Where where, const Packet& packet) {
    frames.push_back({where, bytes_of(packet.frame())});
    frames.back().flow_tag = packet.flow_tag;
    frames.back().tunnel_vni = packet.tunnel_vni;
    frames.back().registers = packet.registers();
    return frames.back();
  }
};

// Runs one frame with this headroom.
inline std::vector<Recorder::Frame> run(Pipeline& pipeline, const FlowTable& table, Domain domain, const Bytes& frame,
                                        std::uint32_t headroom = 256) {
  const FrameBuffer buffer(frame, headroom);
  Packet packet(buffer.frame());
  Recorder recorder;
  pipeline.run(&table, domain, packet, recorder);
  return recorder.frames;
}

}  // namespace verbs::mlx5::steering::test
