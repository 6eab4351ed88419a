// Receive side scaling (RSS): a queue pair that spreads the frames of its flows over receive work queues. A receive
// work queue is a RAW_PACKET queue pair without a send queue, which programs see as an ibv_wq.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace verbs::soft::nic {

class Qp;

struct IndirectionTable {
  std::vector<Qp*> queues;  // a power of two of them
  std::uint32_t users = 0;  // queue pairs
};

// By which fields a queue pair hashes a frame, and where the hash leads.
struct Spread {
  static constexpr std::size_t kKeySize = 40;

  IndirectionTable* table = nullptr;
  std::array<std::uint8_t, kKeySize> key{};
  std::uint64_t fields = 0;  // enum ibv_rx_hash_fields
};

}  // namespace verbs::soft::nic
