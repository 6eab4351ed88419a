// Memory regions: keys, ranges and rights.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "limits.h"
#include "pd.h"
#include "table.h"

namespace verbs::soft::nic {

class Mr {
 public:
  Pd* pd = nullptr;
  std::uint8_t* address = nullptr;
  std::size_t length = 0;
  std::uint64_t iova = 0;
  unsigned access = 0;
  std::uint32_t key = 0;  // lkey == rkey: table index << 8 | a byte that changes with every registration

  // The memory behind [at, at + size) of the region's address space, or nullptr when that leaves the region.
  std::uint8_t* at(std::uint64_t from, std::size_t size) const {
    const std::uint64_t offset = from - iova;
    if (offset > length || size > length - offset) return nullptr;
    return address + offset;
  }
};

class MrTable {
 public:
  explicit MrTable(const Limits& limits) : table_(1, static_cast<std::uint32_t>(limits.max_mr)) {}

  // 0 or errno (EINVAL, EFAULT, ENOMEM, EOPNOTSUPP).
  int reg(Pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access, Mr** mr);
  void dereg(Mr* mr);

  // The region of `key`, if it belongs to `pd` and grants all of `access`.
  const Mr* find(std::uint32_t key, const Pd* pd, unsigned access) const {
    const Mr* mr = table_.find(key >> 8);
    if (mr == nullptr || mr->key != key || mr->pd != pd || (mr->access & access) != access) return nullptr;
    return mr;
  }

 private:
  Table<Mr> table_;
  std::uint8_t next_byte_ = 0;
};

}  // namespace verbs::soft::nic
