// Devices of one process hand whole messages to each other, without packets, where nobody looks at packets
// (docs/decisions/0018-messages.md). This is how one finds the other.
#pragma once

#include <atomic>
#include <cstdint>

namespace verbs::soft::nic {
struct Core;
}

namespace verbs::soft::link {

// The NIC behind an address of this process. It outlives the NIC, for those who have just found it.
class Neighbour {
 public:
  virtual ~Neighbour() = default;
  // The NIC, which nobody else uses until leave(). nullptr, without waiting for long: somebody uses it, or it is gone.
  // For a thread that is in a step of another NIC, so that two that enter each other do not wait for ever.
  virtual nic::Core* enter() = 0;
  virtual void leave() = 0;
};

// Changes whenever somebody may look at packets from now on or does not any more, or an address comes or goes: with
// captures, fault plans, ports, GIDs and tunnels. A change is made under the lock of its device, so that it is seen by
// whoever has entered that NIC.
class Neighbourhood {
 public:
  static std::uint64_t version() { return current.load(std::memory_order_acquire); }
  static void changed() { current.fetch_add(1, std::memory_order_acq_rel); }

 private:
  static inline std::atomic<std::uint64_t> current{1};
};

}  // namespace verbs::soft::link
