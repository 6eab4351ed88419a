// A port of an Ethernet switch as a link.
#pragma once

#include <functional>
#include <memory>

#include "link/ethernet/ethernet_switch.h"
#include "link/link.h"

namespace verbs::soft::link {

struct SwitchCounters {
  std::uint64_t sent = 0;  // copies for other ports
  std::uint64_t received = 0;
  std::uint64_t overflow = 0;  // copies lost because a port's queue was full
  std::uint64_t filtered = 0;  // frames whose destination is behind this port
};

class SwitchLink final : public Link {
 public:
  // `notify` is called, by any thread, when a frame arrives in the empty queue. It must not block. It is not called
  // after the link is destroyed.
  SwitchLink(std::shared_ptr<EthernetSwitch> to, const Mac* own, std::function<void()> notify, bool teaches = true);
  ~SwitchLink() override;

  std::uint8_t* reserve() override { return buffer_; }
  void commit(std::size_t size) override { send({buffer_, size}); }
  void flush() override {}
  std::size_t receive(Receiver& receiver, std::size_t budget) override;

  // Sends the frame at once, without a copy to the buffer. Frames shorter than an Ethernet header are dropped.
  void send(std::span<const std::uint8_t> frame) override;

  const SwitchCounters& counters() const { return counters_; }

 private:
  std::shared_ptr<EthernetSwitch> switch_;
  std::shared_ptr<FrameQueue> queue_;
  SwitchCounters counters_;
  std::uint8_t buffer_[wire::kMaxFrame];
};

}  // namespace verbs::soft::link
