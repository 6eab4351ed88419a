// The identifiers of programs at a device (rdma_cm_id), for the reports that other processes read. Used under the
// device's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "verbs_soft_cm.h"

namespace verbs::soft::host {

class Identifiers {
 public:
  void show(const void* key, const verbs_soft_cm_id& facts) {
    const auto [entry, is_new] = all_.try_emplace(key);
    if (is_new) entry->second.number = next_++;
    entry->second.facts = facts;
  }
  void hide(const void* key) { all_.erase(key); }
  std::size_t count() const { return all_.size(); }
  // Calls visit(number, facts) for each. Numbers are not used again.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [key, entry] : all_) visit(entry.number, entry.facts);
  }

 private:
  struct Entry {
    std::uint32_t number = 0;
    verbs_soft_cm_id facts{};
  };
  std::map<const void*, Entry> all_;
  std::uint32_t next_ = 0;
};

}  // namespace verbs::soft::host
