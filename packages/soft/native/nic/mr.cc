#include "mr.h"

#include <cerrno>

#include "memory.h"

namespace verbs::soft::nic {
namespace {

constexpr unsigned kWriters = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
constexpr unsigned kKnown = kWriters | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED |
                            IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;

int check_access(unsigned access) {
  if ((access & IBV_ACCESS_ON_DEMAND) != 0) return EOPNOTSUPP;
  if ((access & ~kKnown) != 0) return EINVAL;
  // IBTA 10.6.3.1: the remote may not have a right to write that the owner does not have.
  const bool remote_writes = (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  return remote_writes && (access & IBV_ACCESS_LOCAL_WRITE) == 0 ? EINVAL : 0;
}

}  // namespace

int MrTable::reg(Pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access, Mr** mr) {
  if (const int error = check_access(access)) return error;
  if (length == 0) return EINVAL;
  if (const int error = check_mapped(address, length, (access & kWriters) != 0)) return error;

  auto region = std::make_unique<Mr>();
  region->pd = pd;
  region->address = static_cast<std::uint8_t*>(address);
  region->length = length;
  region->iova = (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova;
  region->access = access;
  Mr* raw = region.get();
  const std::uint32_t index = table_.insert(std::move(region));
  if (index == 0) return ENOMEM;
  raw->key = index << 8 | ++next_byte_;
  ++pd->users;
  *mr = raw;
  return 0;
}

void MrTable::dereg(Mr* mr) {
  --mr->pd->users;
  table_.erase(mr->key >> 8);
}

}  // namespace verbs::soft::nic
