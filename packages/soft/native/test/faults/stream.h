// The stream of messages of a cell: two connected queue pairs, memory with borders that nobody may touch, and what was
// posted.
#pragma once

#include <cstdint>
#include <vector>

#include "test/faults/cell.h"
#include "test/faults/digest.h"
#include "test/faults/random.h"
#include "test/nic/virtual_network.h"

namespace verbs::soft::test::faults {

struct Message {
  ibv_wr_opcode opcode;
  std::uint32_t size;
  std::uint32_t imm;          // or the key of the window that it invalidates
  std::uint64_t operand = 0;  // the addend or the compare value of an atomic
};

inline std::string number(std::uint64_t value) { return std::to_string(value); }

inline void require(bool condition, const std::string& otherwise) {
  if (!condition) throw Wrong(otherwise);
}

class Stream {
 public:
  static constexpr int kMessages = 14;
  static constexpr std::uint32_t kSlot = 12'288;  // bytes of memory for each message at each end
  static constexpr std::uint32_t kGrh = 40;
  static constexpr std::uint32_t kBorder = 64;
  static constexpr std::uint32_t kRoom = kSlot - 2 * kBorder;  // for a message

  Stream(const Cell& cell, std::uint64_t seed);

  // Posts everything and runs until nothing is left to happen.
  void run();

  const Operation& operation;
  const FaultCase& fault;
  VirtualNetwork net;
  nic::Qp* qa = nullptr;
  nic::Qp* qb = nullptr;
  std::vector<Message> messages;
  // Slot i begins at i * kSlot; the memory of a message has a border of untouched bytes on both sides.
  std::vector<std::uint8_t> near, far, near_before, far_before;
  alignas(8) std::uint64_t counter = 0;  // the target of fetch-and-add
  alignas(8) std::uint64_t turn = 0;     // the target of compare-and-swap
  std::vector<ibv_wc> sent, received;
  Digest digest;

  std::uint8_t* near_at(std::size_t i) { return near.data() + i * kSlot + kBorder; }
  std::uint8_t* far_at(std::size_t i) { return far.data() + i * kSlot + kBorder; }
  const std::uint8_t* near_before_at(std::size_t i) const { return near_before.data() + i * kSlot + kBorder; }
  const std::uint8_t* far_before_at(std::size_t i) const { return far_before.data() + i * kSlot + kBorder; }
  // How many bytes of a slot a message may write.
  std::uint32_t window(std::size_t i) const;
  // Whether receive requests were posted only after messages had arrived.
  bool late_receives() const { return late_receives_; }

 private:
  void connect(Random& random);
  void plan_messages(Random& random);
  std::uint32_t bind_window(std::size_t i);
  void post_receives();
  void post(std::size_t i);
  void collect();

  std::uint64_t remote_address(std::size_t i);

  bool late_receives_ = false;
  nic::Mr* near_mr_ = nullptr;
  nic::Mr* far_mr_ = nullptr;
  nic::Mr* counter_mr_ = nullptr;
  nic::Mr* turn_mr_ = nullptr;
  nic::Ah* ah_ = nullptr;
};

}  // namespace verbs::soft::test::faults
