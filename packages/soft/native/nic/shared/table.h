// A table of objects by a small integer: a QPN, or the index part of a key. An integer from the wire is looked up here
// and never used as an address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace verbs::soft::nic {

template <typename T>
class Table {
 public:
  Table(std::uint32_t first, std::uint32_t limit) : first_(first), limit_(limit) {}

  // Returns the index, or 0 when the table holds `limit` objects: then `object` is destroyed.
  std::uint32_t insert(std::unique_ptr<T> object) {
    if (count_ >= limit_) return 0;
    std::uint32_t slot;
    // A freed index is not used again at once, so that a late packet does not reach a new object.
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
    if (index >= first_ && slot < slots_.size()) return slots_[slot].get();
    if (chosen_.empty()) return nullptr;
    const auto found = chosen_.find(index);
    return found == chosen_.end() ? nullptr : found->second.get();
  }

  // Gives an object an index of the caller's choice. False if insert() may give out that index, or if it is in use.
  bool renumber(std::uint32_t from, std::uint32_t to) {
    if (to < first_ || to - first_ < limit_ || find(to) != nullptr || find(from) == nullptr) return false;
    const std::size_t slot = static_cast<std::size_t>(from) - first_;
    if (slot >= slots_.size()) return false;
    chosen_[to] = std::move(slots_[slot]);
    free_.push_back(static_cast<std::uint32_t>(slot));
    return true;
  }

  void erase(std::uint32_t index) {
    if (find(index) == nullptr) return;
    --count_;
    if (chosen_.erase(index) != 0) return;
    slots_[index - first_].reset();
    free_.push_back(index - first_);
  }

  std::size_t size() const { return count_; }

  // `visit(object)` may not insert or erase.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& object : slots_) {
      if (object) visit(*object);
    }
    for (const auto& [index, object] : chosen_) visit(*object);
  }

 private:
  static constexpr std::size_t kRest = 1024;
  std::uint32_t first_;
  std::uint32_t limit_;
  std::size_t count_ = 0;
  std::vector<std::unique_ptr<T>> slots_;
  std::deque<std::uint32_t> free_;
  std::map<std::uint32_t, std::unique_ptr<T>> chosen_;
};

}  // namespace verbs::soft::nic
