// The tagged buffers of a shared receive queue of type TM, and the operations on its list.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "binding/posting/work_queue.h"

namespace verbs::core {

// A buffer is done with the last completion of its message, or with that of its removal.
class TaggedBuffers final : public SharedQueue {
 public:
  TaggedBuffers(Environment& environment, std::uint32_t capacity)
      : SharedQueue(environment, capacity, 1), handles_(capacity) {}

  // What the C library calls the buffer staged last.
  void set_handle(std::uint32_t handle) { handles_[last_] = handle; }
  std::optional<std::uint32_t> find(std::uint32_t handle) const {
    for (std::uint32_t index = 0; index < handles_.size(); index++) {
      if (is_outstanding(index) && handles_[index] == handle) return index;
    }
    return std::nullopt;
  }
  void remove(std::uint32_t index) {
    if (is_outstanding(index)) release(index);
  }

  UserId retire(const ibv_wc& wc) override {
    constexpr unsigned kBoth = IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID;
    const bool goes_on = wc.status == IBV_WC_SUCCESS && (wc.wc_flags & kBoth) == IBV_WC_TM_MATCH;
    const std::uint32_t index = index_of(wc);
    if (!goes_on) return SharedQueue::retire(wc);
    return is_outstanding(index) ? entries_[index].id : UserId{};
  }

 private:
  std::vector<std::uint32_t> handles_;
};

class TagOperations final : public SharedQueue {
 public:
  TagOperations(Environment& environment, std::uint32_t capacity, std::shared_ptr<TaggedBuffers> buffers)
      : SharedQueue(environment, capacity, 0), buffers_(std::move(buffers)), removes_(capacity) {}

  // `removes`: the index of the buffer that a successful completion releases.
  std::uint64_t stage_operation(UserId id, std::optional<std::uint32_t> removes) {
    const std::uint64_t wr_id = stage(id);
    removes_[last_] = removes;
    return wr_id;
  }

  UserId retire(const ibv_wc& wc) override {
    const std::uint32_t index = index_of(wc);
    if (is_outstanding(index) && wc.status == IBV_WC_SUCCESS && removes_[index]) buffers_->remove(*removes_[index]);
    return SharedQueue::retire(wc);
  }

 private:
  std::shared_ptr<TaggedBuffers> buffers_;
  std::vector<std::optional<std::uint32_t>> removes_;
};

}  // namespace verbs::core
