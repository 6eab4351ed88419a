// A flow counter. Bulk counters are an array of these; an aliasing shared_ptr to one of them keeps the array.
#pragma once

#include <cstdint>

namespace verbs::mlx5::steering {

struct Counter {
  std::uint64_t packets = 0;
  // Of each frame at the counter's place in the order of actions: after decapsulation and VLAN pop, before VLAN push
  // and encapsulation. Without the FCS.
  std::uint64_t bytes = 0;
};

}  // namespace verbs::mlx5::steering
