// What holds in the world whatever is sent to it.
#include <cstring>

#include "fuzz/arena.h"
#include "fuzz/check.h"
#include "fuzz/world.h"

namespace verbs::soft::fuzz {

// Completions of a queue come in the order of its requests, and only for requests that there were.
void World::check_completion(const ibv_wc& wc) {
  FUZZ_CHECK(wc.status >= IBV_WC_SUCCESS && wc.status <= IBV_WC_TM_RNDV_INCOMPLETE);
  const std::size_t owner = wc.wr_id >> 33;
  const bool receive = (wc.wr_id >> 32 & 1) != 0;
  const auto number = static_cast<std::uint32_t>(wc.wr_id);
  if (wc.status == IBV_WC_SUCCESS) FUZZ_CHECK(receive == ((wc.opcode & IBV_WC_RECV) != 0));
  if (owner >= kShared) {
    // Those of a shared queue come in any order, but only once.
    std::vector<bool>& open = shared_open_.at(owner - kShared);
    FUZZ_CHECK(receive && number >= 1 && number <= open.size() && open[number - 1]);
    open[number - 1] = false;
    return;
  }
  Slot& slot = slots_.at(owner);
  std::uint32_t& last = receive ? slot.completed_receives : slot.completed_sends;
  FUZZ_CHECK(number > last && number <= (receive ? slot.received : slot.sent));
  last = number;
}

void World::check_memory() const {
  for (std::size_t i = 0; i <= kRegions; ++i) FUZZ_CHECK(arena().is_whole(i));
  FUZZ_CHECK(std::memcmp(arena().region(kReadOnly), arena().untouched.data(), kRegionSize) == 0);
}

// The control pair writes and sends between the halves of its region while the other queue pairs have work.
void World::check_progress() {
  constexpr std::uint32_t kHalf = kRegionSize / 2;
  constexpr std::uint32_t kLength = 1000;
  std::uint8_t* memory = arena().region(kControl);
  static std::uint8_t stamp = 0;
  ++stamp;
  std::memset(memory, stamp, kLength);
  std::memset(memory + kHalf, 0, kHalf);

  ibv_sge target{address(kControl) + kHalf, kLength, regions_[kControl]->lkey()};
  ibv_recv_wr receive = {};
  ibv_recv_wr* bad_receive = nullptr;
  receive.sg_list = &target;
  receive.num_sge = 1;
  FUZZ_CHECK(nic_->data_path().post_recv(control_[1], &receive, &bad_receive) == 0);
  ibv_sge source{address(kControl), kLength, regions_[kControl]->lkey()};
  ibv_send_wr requests[2] = {};
  ibv_send_wr* bad = nullptr;
  for (ibv_send_wr& request : requests) {
    request.sg_list = &source;
    request.num_sge = 1;
    request.send_flags = IBV_SEND_SIGNALED;
  }
  requests[0].opcode = IBV_WR_RDMA_WRITE;
  requests[0].wr.rdma.remote_addr = address(kControl) + kHalf + kLength;
  requests[0].wr.rdma.rkey = regions_[kControl]->rkey();
  requests[0].next = &requests[1];
  requests[1].opcode = IBV_WR_SEND;
  FUZZ_CHECK(nic_->data_path().post_send(control_[0], requests, &bad) == 0);

  int completed = 0;
  for (int turn = 0; turn < 1000 && completed < 3; ++turn) {
    pass(1000, 1);
    ibv_wc wc;
    while (control_cq_->poll(1, &wc) == 1) {
      FUZZ_CHECK(wc.status == IBV_WC_SUCCESS);
      ++completed;
    }
  }
  FUZZ_CHECK(completed == 3);
  FUZZ_CHECK(std::memcmp(memory, memory + kHalf, kLength) == 0);
  FUZZ_CHECK(std::memcmp(memory, memory + kHalf + kLength, kLength) == 0);
}

}  // namespace verbs::soft::fuzz
