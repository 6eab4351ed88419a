#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "nic/objects/pd.h"
#include "wire/frame.h"

namespace verbs::soft::nic {

// An address handle: an address vector that was checked once, ready for datagrams.
class Ah {
 public:
  // First, so that a work request's ibv_ah pointer is one of these: posting a datagram translates nothing.
  ibv_ah verbs = {};
  Pd* pd = nullptr;
  std::uint32_t handle = 0;
  std::uint8_t port_num = 1;
  wire::Path path;
};

}  // namespace verbs::soft::nic
