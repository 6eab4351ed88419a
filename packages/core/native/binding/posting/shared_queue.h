// The requests of a shared receive queue: several QPs take them, so they complete in any order, each for itself.
#pragma once

#include "binding/posting/request_queue.h"

namespace verbs::core {

class SharedQueue final : public RequestQueue {
 public:
  SharedQueue(Environment& environment, std::uint32_t capacity, std::uint32_t max_sge);

  // Room for more; never for less.
  void grow(std::uint32_t capacity);

  bool idle() const override { return free_.size() == entries_.size(); }
  bool full() const override { return free_.size() == staged_; }
  std::uint64_t stage(UserId id) override;
  void commit(std::uint32_t count) override;
  UserId retire(std::uint64_t wr_id) override;

 private:
  std::vector<std::uint32_t> free_;  // a stack; its upper `staged_` entries are being staged, from the top down
  std::vector<bool> outstanding_;
  std::uint32_t staged_ = 0;
};

}  // namespace verbs::core
