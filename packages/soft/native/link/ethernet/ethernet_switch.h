// The Ethernet switch that joins ports of this process. It learns the port of each source address, and floods frames to
// unknown addresses. It copies frames to the queues of the ports, so that no port waits for the owner of another one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "link/frame_queue.h"
#include "link/link.h"

namespace verbs::soft::link {

using Mac = std::array<std::uint8_t, 6>;

// An address as a number, for comparing.
inline std::uint64_t mac_key(const std::uint8_t* mac) {
  std::uint64_t key = 0;
  for (int i = 0; i < 6; ++i) key = key << 8 | mac[i];
  return key;
}
inline bool is_group_address(const std::uint8_t* mac) { return (mac[0] & 1) != 0; }

class EthernetSwitch {
 public:
  static constexpr std::size_t kMinFrame = 14;

  // The switch of that name in this process. A forked child gets new switches: the inherited ones lead to copies of the
  // parent's queues, which no thread empties.
  static std::shared_ptr<EthernetSwitch> named(const std::string& name);

  // Adds a port whose frames go to `queue`. `own` is an address that is always behind the port, or nullptr. If
  // `teaches` is false, the switch learns nothing from the port's frames.
  void join(const std::shared_ptr<FrameQueue>& queue, const Mac* own, bool teaches);
  void leave(const FrameQueue* queue);

  struct Outcome {
    std::uint32_t sent = 0;      // copies that were queued
    std::uint32_t overflow = 0;  // copies that found a queue full
    bool filtered = false;       // the destination is behind the port that sent the frame
  };
  // Forwards a frame of at least kMinFrame bytes from the port of `from`. A frame to a group goes to every port, also
  // to `from`; a frame to an unknown address goes to every other port.
  Outcome forward(const FrameQueue* from, std::span<const std::uint8_t> frame);

 private:
  struct Member {
    std::uint64_t own;  // kNobody without an address
    std::shared_ptr<FrameQueue> queue;
    bool teaches;
  };
  // Learned addresses, in a set-associative table: a new address takes a free way of its set, or replaces one, round
  // robin. A sender of ever new addresses makes the switch forget others, and nothing is allocated.
  static constexpr std::size_t kSets = 512;
  static constexpr std::size_t kWays = 4;
  static constexpr std::uint64_t kNobody = UINT64_MAX;
  struct Set {
    std::array<std::uint64_t, kWays> keys;
    std::array<FrameQueue*, kWays> queues;
    std::uint8_t next;
  };

  static std::size_t set_of(std::uint64_t key) { return (key * 0x9e3779b97f4a7c15u >> 32) % kSets; }
  FrameQueue* find(std::uint64_t key) const;
  const Member* owner_of(std::uint64_t key) const;
  void learn(std::uint64_t key, FrameQueue* queue);
  void forget(const FrameQueue* queue);

  std::mutex mutex_;
  std::vector<Member> members_;
  std::unique_ptr<Set[]> learned_;  // allocated when the first address is learned
};

// A port of an Ethernet switch as a link.

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

  // Takes the port off the switch, and puts it back. Frames that wait for the port are lost.
  void unplug();
  void plug();

  std::uint8_t* reserve() override { return buffer_; }
  void commit(std::size_t size) override { send({buffer_, size}); }
  void flush() override {}
  std::size_t receive(Receiver& receiver, std::size_t budget) override;

  // Sends the frame at once, without a copy to the buffer. Frames shorter than an Ethernet header are dropped.
  void send(std::span<const std::uint8_t> frame) override;

  const SwitchCounters& counters() const { return counters_; }

 private:
  std::shared_ptr<EthernetSwitch> switch_;
  std::optional<Mac> own_;
  std::function<void()> notify_;
  bool teaches_;
  std::shared_ptr<FrameQueue> queue_;  // nullptr while it is unplugged
  SwitchCounters counters_;
  std::uint8_t buffer_[wire::kMaxFrame];
};

}  // namespace verbs::soft::link
