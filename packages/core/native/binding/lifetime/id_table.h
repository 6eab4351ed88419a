// Small unforgeable names for objects: an index with a generation, so that a stale id finds nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace verbs::core {

template <typename T>
class IdTable {
 public:
  // Never 0.
  std::uint32_t insert(T* object) {
    std::uint32_t index;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(slots_.size());
      if (index > kMaxIndex) return 0;
      slots_.push_back({});
    } else {
      index = free_.back();
      free_.pop_back();
    }
    // Room for giving it back, so that Erase cannot fail.
    free_.reserve(slots_.size());
    Slot& slot = slots_[index];
    slot.object = object;
    return slot.generation << kIndexBits | index;
  }

  T* find(std::uint32_t id) const {
    const std::uint32_t index = id & kMaxIndex;
    if (index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    return slot.generation == id >> kIndexBits ? slot.object : nullptr;
  }

  void erase(std::uint32_t id) {
    if (find(id) == nullptr) return;
    Slot& slot = slots_[id & kMaxIndex];
    slot.object = nullptr;
    slot.generation = slot.generation == kMaxGeneration ? 1 : slot.generation + 1;
    free_.push_back(id & kMaxIndex);
  }

 private:
  static constexpr unsigned kIndexBits = 22;  // four million live objects, a thousand generations
  static constexpr std::uint32_t kMaxIndex = (1u << kIndexBits) - 1;
  static constexpr std::uint32_t kMaxGeneration = (1u << (32 - kIndexBits)) - 1;
  struct Slot {
    T* object = nullptr;
    std::uint32_t generation = 1;
  };
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace verbs::core
