// GIDs as values that can be compared and copied.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace verbs::doca_comm::model {

using Gid = std::array<std::uint8_t, 16>;

inline Gid gid_of(const ibv_gid& gid) {
  Gid bytes;
  std::copy(std::begin(gid.raw), std::end(gid.raw), bytes.begin());
  return bytes;
}

}  // namespace verbs::doca_comm::model
