#pragma once

#include <cstdint>

namespace verbs::soft::nic {

// A protection domain: keys, queue pairs and address handles work together only inside one.
class Pd {
 public:
  std::uint32_t handle = 0;
  std::uint32_t users = 0;  // MRs, MWs, QPs, SRQs and AHs that name it; dealloc is EBUSY while there are any
};

}  // namespace verbs::soft::nic
