// A NIC among hostile neighbours: memory with canaries around it, queue pairs for the input to play with, and a pair of
// queue pairs in a protection domain of their own that nothing hostile may hinder.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "fuzz/input.h"
#include "link/link.h"
#include "nic/nic.h"

namespace verbs::soft::fuzz {

inline constexpr std::size_t kRegionSize = 8192;
inline constexpr std::size_t kSlots = 6;

// What a region of memory may be used for.
enum Region : std::size_t {
  kOpen,       // all rights
  kLocal,      // written by this side only
  kReadOnly,   // readable by the peer, not writable
  kVanishing,  // its second page is not there any more
  kControl,    // of the other protection domain
  kRegions,
};

inline wire::Gid ipv4_gid(std::uint8_t host) {
  const std::uint8_t address[4] = {10, 0, 0, host};
  return wire::Gid::from_ipv4(address);
}
inline wire::Gid ipv4_group() {
  static constexpr std::uint8_t address[4] = {224, 1, 1, 1};
  return wire::Gid::from_ipv4(address);
}
inline wire::Gid ipv6_gid(std::uint8_t host) {
  wire::Gid gid;
  gid.bytes[0] = 0xfd;
  gid.bytes[15] = host;
  return gid;
}

// Who a work request belongs to: a slot, or a shared receive queue. It is a part of the request's id.
inline constexpr std::size_t kShared = kSlots;
inline constexpr std::size_t kSharedQueues = 2;  // an ordinary one, and that of the XRC domain

inline std::uint64_t request_id(std::size_t owner, bool receive, std::uint32_t number) {
  return std::uint64_t{owner} << 33 | std::uint64_t{receive} << 32 | number;
}

// A queue pair that the input plays with.
struct Slot {
  nic::Qp* qp = nullptr;
  ibv_qp_type type = IBV_QPT_RC;
  bool ipv6 = false;
  bool shared = false;  // it uses the shared receive queue
  bool member = false;  // of the multicast group
  // Work request ids count up, and completions come in that order.
  std::uint32_t sent = 0, received = 0;
  std::uint32_t completed_sends = 0, completed_receives = 0;
};

class World final : public nic::EventSink, public link::Transmitter {
 public:
  // The device, its memory and its address handles outlive an execution: making them is slow. Queues do not.
  World();
  ~World();
  void begin();
  // Checks the invariants (canaries and read-only memory are untouched, the control pair transfers a message) and
  // destroys the queues.
  void end();

  nic::Nic& nic() { return *nic_; }
  nic::Cq* cq() { return cq_; }
  nic::Srq* srq(std::size_t index) { return srqs_[index]; }
  // The id for the next request that is posted to a shared queue; shared_posted() says that it was.
  std::uint64_t shared_id(std::size_t index) const {
    return request_id(kShared + index, true, static_cast<std::uint32_t>(shared_open_[index].size()) + 1);
  }
  void shared_posted(std::size_t index) { shared_open_[index].push_back(true); }
  // Memory windows, of type 1 and of type 2.
  nic::Mw* window(std::size_t index) { return windows_[index % windows_.size()]; }
  Slot& slot(std::size_t index) { return slots_[index % kSlots]; }
  nic::Mr* region(std::size_t index) { return regions_[index % kRegions]; }
  static std::uint64_t address(std::size_t region);
  // A key that is right, almost right, or anything.
  std::uint32_t key(Input& input, bool remote);
  // The last frames that the NIC sent to its peer, for a peer that answers with them.
  const std::deque<std::vector<std::uint8_t>>& heard() const { return heard_; }
  bool is_control(std::uint32_t qpn) const;
  nic::Nanos now() const { return now_; }

  // Destroys the slot's queue pair and makes another: its type and state come from the input.
  void make(Slot& slot, Input& input);
  void set_state(Slot& slot, ibv_qp_state state);
  // The address vector to the peer (or to ourselves) for a slot.
  static ibv_ah_attr peer(bool ipv6, bool self);
  ibv_ah* datagram_peer(std::size_t index) { return &ahs_[index % ahs_.size()]->ibv; }
  // Registers the open region again and allocates the windows again: the old keys become stale.
  void register_again();
  // Enters the multicast group, or leaves it.
  void change_membership(Slot& slot);

  void deliver(std::span<const std::uint8_t> frame) { nic_->ingress().deliver(1, frame, now_); }
  void deliver_referring(std::span<const std::uint8_t> frame, link::SenderMemory& memory) {
    nic_->ingress().deliver_referring(1, frame, now_, memory);
  }
  // Lets time pass and the NIC work, in bounded steps.
  void pass(nic::Nanos time, int turns = 8);
  void poll(int most);

  // nic::EventSink and link::Transmitter: the events and frames of the NIC.
  void completion(nic::Cq*) override {}
  void async(const nic::AsyncEvent&) override {}
  std::uint8_t* reserve() override { return buffer_; }
  void commit(std::size_t size) override;
  void flush() override {}

 private:
  void register_region(std::size_t index, nic::Pd* pd, unsigned access);
  nic::Qp* create(const nic::QpParts& parts, ibv_qp_type type);
  void destroy(Slot& slot);
  void alloc_windows();
  void dealloc_windows();
  void connect(nic::Qp* qp, std::uint32_t dest, const ibv_ah_attr& path, ibv_qp_type type, ibv_qp_state state);
  void check_completion(const ibv_wc& wc);
  void check_memory() const;
  void check_progress();

  std::unique_ptr<nic::Nic> nic_;
  nic::Pd* pd_ = nullptr;
  nic::Pd* control_pd_ = nullptr;
  nic::Cq* cq_ = nullptr;
  nic::Cq* control_cq_ = nullptr;
  nic::Xrcd* xrcd_ = nullptr;
  std::array<nic::Srq*, kSharedQueues> srqs_{};
  std::array<std::vector<bool>, kSharedQueues> shared_open_;  // by number: posted to it and not completed
  std::array<nic::Mw*, 2> windows_{};
  std::array<nic::Mr*, kRegions> regions_{};
  std::array<nic::Ah*, 2> ahs_{};
  std::array<Slot, kSlots> slots_;
  std::array<nic::Qp*, 2> control_{};
  std::array<std::uint32_t, 2> control_numbers_{};
  std::uint8_t buffer_[wire::kMaxFrame] = {};
  std::deque<std::vector<std::uint8_t>> looping_;
  std::deque<std::vector<std::uint8_t>> heard_;
  nic::Nanos now_ = 1'000'000;
};

}  // namespace verbs::soft::fuzz
