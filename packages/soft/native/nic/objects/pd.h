// Protection domains: keys, queue pairs and address handles work together only inside one.
#pragma once

#include <cstdint>
#include <utility>

#include "nic/shared/limits.h"
#include "nic/shared/table.h"

namespace verbs::soft::nic {

class Pd {
 public:
  std::uint32_t handle = 0;
  std::uint32_t users = 0;  // MRs, MWs, QPs, SRQs and AHs in it, and retain()
};

class PdTable {
 public:
  explicit PdTable(const Limits& limits) : table_(1, static_cast<std::uint32_t>(limits.max_pd)) {}

  int alloc(Pd** pd);   // 0 or ENOMEM
  int dealloc(Pd* pd);  // 0, or EBUSY while it has users
  // One more user, which is no object of the NIC (a parent domain).
  void retain(Pd* pd) { ++pd->users; }
  void release(Pd* pd) { --pd->users; }
  std::size_t count() const { return table_.size(); }
  // `visit(object)` may not make or end one.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    table_.for_each(std::forward<Visit>(visit));
  }

 private:
  Table<Pd> table_;
};

}  // namespace verbs::soft::nic
