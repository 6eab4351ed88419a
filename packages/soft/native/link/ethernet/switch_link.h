// A port of an Ethernet switch as a link: what is committed goes into the switch, what the switch brings is received.
#pragma once

#include <functional>
#include <memory>

#include "link/ethernet/ethernet_switch.h"
#include "link/link.h"

namespace verbs::soft::link {

struct SwitchCounters {
  std::uint64_t sent = 0;  // copies that other ports were given
  std::uint64_t received = 0;
  std::uint64_t overflow = 0;  // copies for ports whose queue was full
  std::uint64_t filtered = 0;  // frames whose destination is behind this port
};

class SwitchLink final : public Link {
 public:
  // `notify` is called, by any thread, when a frame arrives in the empty queue; it must not block, and is not called
  // any more once the link is gone.
  SwitchLink(std::shared_ptr<EthernetSwitch> to, const Mac* own, std::function<void()> notify, bool teaches = true);
  ~SwitchLink() override;

  std::uint8_t* reserve() override { return buffer_; }
  void commit(std::size_t size) override { send({buffer_, size}); }
  void flush() override {}
  std::size_t receive(Receiver& receiver, std::size_t budget) override;

  // At once, from where it is. Shorter frames than a header are dropped.
  void send(std::span<const std::uint8_t> frame) override;

  const SwitchCounters& counters() const { return counters_; }

 private:
  std::shared_ptr<EthernetSwitch> switch_;
  std::shared_ptr<FrameQueue> queue_;
  SwitchCounters counters_;
  std::uint8_t buffer_[wire::kMaxFrame];
};

}  // namespace verbs::soft::link
