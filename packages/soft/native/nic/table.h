// Objects by a small integer (a QPN, the index part of a key). What arrives on the wire is looked up here, never
// trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace verbs::soft::nic {

template <typename T>
class Table {
 public:
  Table(std::uint32_t first, std::uint32_t limit) : first_(first), limit_(limit) {}

  // The next index, or 0 when `limit` objects are there.
  std::uint32_t insert(std::unique_ptr<T> object) {
    if (count_ >= limit_) return 0;
    std::uint32_t slot;
    // A freed index rests for a while, so that a late packet does not meet a new object.
    if (free_.size() > kRest || (slots_.size() >= limit_ && !free_.empty())) {
      slot = free_.front();
      free_.pop_front();
      slots_[slot] = std::move(object);
    } else {
      slot = static_cast<std::uint32_t>(slots_.size());
      slots_.push_back(std::move(object));
    }
    ++count_;
    return first_ + slot;
  }

  T* find(std::uint32_t index) const {
    const std::size_t slot = static_cast<std::size_t>(index) - first_;
    return index >= first_ && slot < slots_.size() ? slots_[slot].get() : nullptr;
  }

  void erase(std::uint32_t index) {
    if (find(index) == nullptr) return;
    slots_[index - first_].reset();
    free_.push_back(index - first_);
    --count_;
  }

  std::size_t size() const { return count_; }

 private:
  static constexpr std::size_t kRest = 1024;
  std::uint32_t first_;
  std::uint32_t limit_;
  std::size_t count_ = 0;
  std::vector<std::unique_ptr<T>> slots_;
  std::deque<std::uint32_t> free_;
};

}  // namespace verbs::soft::nic
