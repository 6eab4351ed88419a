// Completion counters (ibv_create_comp_cntr): how many work requests, or bytes of them, have completed on the queue
// pairs that a counter is attached to. A program reads the sum instead of an entry for each.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace verbs::soft::nic {

struct CompletionCounter {
  // What is counted for a queue pair, by the bits of enum ibv_qp_attach_comp_cntr_op.
  enum Operation : std::uint8_t { kSend, kRecv, kRead, kRemoteRead, kWrite, kRemoteWrite, kOperations };
  static constexpr std::uint32_t kAll = (1u << kOperations) - 1;

  void count(ibv_wc_status status, std::uint32_t length) {
    if (status != IBV_WC_SUCCESS) {
      errors.fetch_add(1, std::memory_order_release);
    } else {
      completed.fetch_add(counts_bytes ? length : 1, std::memory_order_release);
    }
  }

  // Any thread may read and change them; both wrap around to 0.
  std::atomic<std::uint64_t> completed{0};
  std::atomic<std::uint64_t> errors{0};  // requests, also where bytes are counted
  bool counts_bytes = false;
  std::uint32_t queue_pairs = 0;  // attachments; under the device's lock
};

// The counters of a queue pair: one at most for each operation.
struct AttachedCounters {
  std::array<CompletionCounter*, CompletionCounter::kOperations> by_operation{};
};

}  // namespace verbs::soft::nic
