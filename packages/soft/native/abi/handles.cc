#include <algorithm>

#include "objects.h"

namespace verbs::soft::abi {

std::uint32_t Handles::add(void* object, Destroy destroy) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(entries_.size()));
    entries_.emplace_back();
  }
  const std::uint32_t handle = free_.back();
  free_.pop_back();
  entries_[handle] = {object, destroy, ++births_};
  return handle;
}

void Handles::remove(std::uint32_t handle) {
  const std::lock_guard lock(mutex_);
  if (handle >= entries_.size()) return;  // destroy_all() has taken the table
  entries_[handle] = {};
  free_.push_back(handle);
}

void Handles::destroy_all() {
  std::vector<Entry> left;
  {
    const std::lock_guard lock(mutex_);
    left.swap(entries_);
    free_.clear();
  }
  std::erase_if(left, [](const Entry& entry) { return entry.object == nullptr; });
  std::sort(left.begin(), left.end(), [](const Entry& a, const Entry& b) { return a.born > b.born; });
  for (const Entry& entry : left) entry.destroy(entry.object);
}

}  // namespace verbs::soft::abi
