// A link in memory: vectors of the sent frames and of the frames to receive.
#pragma once

#include <deque>
#include <vector>

#include "link/link.h"

namespace verbs::soft::link::test {

using Frame = std::vector<std::uint8_t>;

class MemoryLink final : public Link {
 public:
  std::uint8_t* reserve() override { return buffer_; }
  void commit(std::size_t size) override { pending_.emplace_back(buffer_, buffer_ + size); }
  void flush() override {
    for (Frame& frame : pending_) sent.push_back(std::move(frame));
    pending_.clear();
  }
  std::uint16_t fixed_source_port() const override { return 4791; }
  std::size_t receive(Receiver& receiver, std::size_t budget) override {
    std::size_t count = 0;
    for (; count < budget && !arriving.empty(); ++count) {
      const Frame frame = std::move(arriving.front());
      arriving.pop_front();
      receiver.deliver(frame);
    }
    return count;
  }

  std::vector<Frame> sent;
  std::deque<Frame> arriving;

 private:
  std::vector<Frame> pending_;
  std::uint8_t buffer_[wire::kMaxFrame] = {};
};

class Collector final : public Receiver {
 public:
  void deliver(std::span<const std::uint8_t> frame) override { frames.emplace_back(frame.begin(), frame.end()); }
  std::vector<Frame> frames;
};

// Keeps apart the frames that come without their ICRC.
class FormCollector final : public Receiver {
 public:
  void deliver(std::span<const std::uint8_t> frame) override { sealed.emplace_back(frame.begin(), frame.end()); }
  void deliver_unsealed(std::span<const std::uint8_t> frame) override {
    unsealed.emplace_back(frame.begin(), frame.end());
  }
  std::vector<Frame> sealed, unsealed;
};

inline void send(Transmitter& link, const Frame& frame) {
  std::copy(frame.begin(), frame.end(), link.reserve());
  link.commit(frame.size());
}

// The frame with another ICRC.
inline Frame unsealed(Frame frame) {
  frame.back() ^= 0xff;
  return frame;
}

inline void send_unsealed(Transmitter& link, const Frame& frame) {
  std::uint8_t* buffer = link.reserve();
  std::copy(frame.begin(), frame.end(), buffer);
  link.commit_unsealed({buffer, frame.size()});
}

// A sealed frame whose payload begins with `number`.
Frame numbered_frame(std::uint32_t number, std::size_t payload = 32);
Frame sealed_frame(const wire::Path& path, std::uint32_t number, std::size_t payload);
std::uint32_t number_of(const Frame& frame);
wire::Gid ipv4_gid(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d);

}  // namespace verbs::soft::link::test
