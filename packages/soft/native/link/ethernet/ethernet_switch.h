// The Ethernet switch that joins ports of this process: it learns which address is behind which port, and floods what
// it has not learned. Frames are copied to the queues of the ports, so that no port ever waits for another one's
// owner.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "link/frame_queue.h"

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

  // The one of that name in this process. A forked child has new ones: those it inherited lead to copies of its
  // parent's queues, which nobody empties.
  static std::shared_ptr<EthernetSwitch> named(const std::string& name);

  // A port whose frames go to `queue`. `own` is the address that is always behind it, or nullptr. Of the frames of a
  // port that does not teach nothing is learned.
  void join(const std::shared_ptr<FrameQueue>& queue, const Mac* own, bool teaches);
  void leave(const FrameQueue* queue);

  struct Outcome {
    std::uint32_t sent = 0;      // copies that went into a queue
    std::uint32_t overflow = 0;  // copies that found it full
    bool filtered = false;       // its address is behind the port that it came from
  };
  // A frame of at least kMinFrame bytes comes from the port of `from`. One to a group goes to every port, that one too;
  // one to an address that is not known goes to every other port.
  Outcome forward(const FrameQueue* from, std::span<const std::uint8_t> frame);

 private:
  struct Member {
    std::uint64_t own;  // kNobody without an address
    std::shared_ptr<FrameQueue> queue;
    bool teaches;
  };
  // Learned addresses: sets of a few places, of which a new address takes one that is free or the next in turn. So a
  // sender of ever new addresses only makes the switch forget, and nothing is allocated.
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
  std::unique_ptr<Set[]> learned_;  // at the first address that is no port's own
};

}  // namespace verbs::soft::link
