// An object of an opened device, as the kernel keeps it: a handle, a type and what it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace verbs::uverbs {

enum class Type : std::uint8_t {
  kNone,
  kPd,
  kCompChannel,
  kCq,
  kQp,
  kSrq,
  kAh,
  kMr,
  kMw,
  kFlow,
  kXrcd,
  kIndirectionTable,
  kWq,
  kFlowAction,
  kDm,
  kCounters,
  kAsyncFd,
  kDevxObject,
  kDevxUmem,
  kMatcher,
  kUar,
  kVar,
  kPacing,
  kAnchor,
  kUsrFifo,
  kEncap,
  kNewSize,  // of a queue: not an object, but a request of the driver
};

// A queue in the program's memory, or one that the driver gave it: what the program posts is read there.
struct Queue {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t element = 64;          // bytes of an element
  std::vector<std::size_t> addresses;  // in an element, and other numbers that belong to the program alone
};

struct Object {
  Type type = Type::kNone;
  std::uint32_t users = 0;           // objects that hold this one
  std::vector<std::uint32_t> holds;  // handles
  std::uint64_t user_handle = 0;     // of events
  std::uint64_t address = 0;         // MR, CQ of mlx5: its buffer
  std::uint64_t length = 0;          // MR
  std::uint32_t events = 0;          // that were sent about it
  std::uint32_t number = 0;          // QPN, CQN, SRQN, or the one of the driver
  std::uint32_t user_index = 0;      // QP of mlx5: where the program finds it for a completion
  std::uint32_t state = 0;           // QP
  std::uint32_t port = 0;            // hbl: of a QP, CQ, FIFO or encapsulation
  std::uint32_t channel_fd = 0;      // CQ: descriptor of its completion channel + 1
  std::vector<std::uint32_t>
      numbers;  // capacities of a QP or SRQ: max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline
  std::vector<Queue> queues;
};

}  // namespace verbs::uverbs
